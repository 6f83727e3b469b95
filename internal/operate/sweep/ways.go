// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// ways returns the commands by which a user ends what is not removed.
func (v *view) ways(ctx context.Context, i *Item) []string {
	switch i.Result.Reason {
	case rules.JournalUnfinished, rules.CutUnfinished:
		return v.journalWays(ctx, i)
	case rules.JournalOfOldData:
		return oldDataWays(i, v.Flags)
	case rules.CutLeft, rules.SuspensionLeft:
		return v.trafficWays(ctx, i)
	case rules.RolloutUngoverned:
		object := i.Object()
		if i.Owner != nil {
			object = i.Owner.Target().String()
		}
		return []string{fmt.Sprintf(`kubectl annotate --overwrite %s -n %s %s="%s no policy holds it"`, object, i.Namespace, v1alpha1.RolloutAnnotation, v1alpha1.ReleasePrefix) + v.Flags}
	case rules.OldDataKept:
		return []string{v.command("snapshot restore", i.Namespace, i.Owner.Target().String()+" --discard")}
	case rules.RolloutUnwell, rules.StillMember, rules.KeptDataNeeded:
		if i.Owner != nil {
			return []string{v.command("diagnose", i.Namespace, i.Owner.Target().String())}
		}
	case rules.HelperLeft:
		return []string{"kubectl delete pod " + i.Name + " -n " + i.Namespace + v.Flags}
	}
	return nil
}
