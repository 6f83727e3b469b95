// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// afterRestore reports whether only a scale is left of a restore. It returns false if the user may not read that: the
// permissions are checked later.
func afterRestore(ctx context.Context, c *app.Cluster) (bool, error) {
	if !journal.CanExist(c.Owner) {
		return false, nil
	}
	awaits, err := membership.ReadAwaiting(ctx, c.Kube, c.Owner)
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return awaits != nil, err
}

// leave ends a restore of which only a scale is left, and adds no member.
func leave(ctx context.Context, a *app.App, c *app.Cluster, f change.Flags) error {
	var awaits *journal.Journal
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "scale", AllowsUnfinished: true, Needs: leaveNeeds(c.Owner),
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			if awaits, err = membership.ReadAwaiting(ctx, c.Kube, c.Owner); err != nil || awaits == nil {
				return operate.Plan{Already: fmt.Sprintf("No scale of %s is left of a restore: there is nothing to undo.", c.Owner)}, err
			}
			return operate.Plan{
				Title:   fmt.Sprintf("leave %s with the members that it has", c.Owner),
				Subject: fmt.Sprint(awaits.Began.UnixNano(), awaits.ScaleTo), // another restore may have ended since
				Facts:   []string{fmt.Sprintf("a restore, begun %s, has ended, and was to get %s", format.Time(awaits.Began), policy.Count(awaits.ScaleTo, "member"))},
				Steps:   []string{"remove the record of the restore, which alone has that number"},
			}, nil
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := awaits.DeleteUnchanged(ctx, c.Kube); err != nil {
				return err
			}
			run.Done(ctx, reasons.ScaledUndone, "scale after a restore was left out", fmt.Sprintf("%s: left with the members that it has", c.Target()))
			return nil
		},
	})
}

func leaveNeeds(o owner.Owner) []operate.Need {
	need := operate.NeedIn(o.Namespace)
	return []operate.Need{
		need("get", "apps", "statefulsets", "", o.StatefulSet),
		need("get", "", "configmaps", "", journal.Name(o)), need("delete", "", "configmaps", "", journal.Name(o)),
	}
}
