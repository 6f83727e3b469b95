// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// LeavingClaim is a claim that is being deleted, and its volume. Kubernetes removes it when no pod mounts it any more.
type LeavingClaim struct{ Name, Volume string }

// leavingClaims returns why old data can't be kept: it is lost with its claim when the members stop.
func (r Plan) leavingClaims() error {
	if len(r.Leaving) == 0 {
		return nil
	}
	return r.refuse("%s. Then delete the pods of these claims, and repeat the command when the claims are gone: it creates new ones", r.keepVolumes())
}

// keepVolumes returns which claims are being deleted, and how to keep their volumes.
func (r Plan) keepVolumes() string {
	var names, keep []string
	for _, l := range r.Leaving {
		names = append(names, l.Name)
		keep = append(keep, fmt.Sprintf(`kubectl patch pv %s -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`, l.Volume))
	}
	return fmt.Sprintf("%s being deleted, and the data is lost when no pod mounts it any more. Keep the volumes first: %s",
		policy.Names(claimsNamed(names), "is", "are"), strings.Join(keep, "; "))
}

// claimsNamed returns the names of claims with their kind.
func claimsNamed(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, "PersistentVolumeClaim "+name)
	}
	return out
}

// changedClaims leaves in the plan of an unfinished restore the claims that other clients have deleted since it began.
// found are the claims that are gone now.
func (r *Plan) changedClaims(rec *progress.Record, found []string) {
	begun := r.begun(rec)
	own := func(id string) bool { return slices.Contains(begun, id) } // these steps delete claims themselves
	if own(removed) || own(replaced) || own(claimed) || own(letIn) {
		r.Leaving = nil
		return
	}
	r.GoneSince = slices.DeleteFunc(slices.Clone(found), func(c string) bool { return slices.Contains(r.Gone, c) })
}

// claimsMayContinue returns why a restore can't go on without the claims that other clients have deleted since it began.
func (r Plan) claimsMayContinue() error {
	if len(r.GoneSince) == 0 {
		return r.leavingClaims()
	}
	return operate.Refuse("%[1]s gone since the restore into %[2]s began, and its data with it. Create each again (kubectl create -f FILE -n %[3]s), with the labels, the size and the storage class that kubectl get pvc -n %[3]s -o yaml shows of the claims of the other members. Then repeat the command",
		policy.Names(claimsNamed(r.GoneSince), "is", "are"), r.Owner, r.Owner.Namespace)
}

// claimsMayUndo returns why the old data can't come back, since other clients have deleted or are deleting its claims.
// stops is true if the undoing stops members.
func (r Plan) claimsMayUndo(stops bool) error {
	switch {
	case len(r.GoneSince) > 0:
		return operate.Refuse("%s gone since the restore into %s began, and its data with it: members would start on new volumes, without data. Continue the restore with its snapshot instead: %s shows the command",
			policy.Names(claimsNamed(r.GoneSince), "is", "are"), r.Owner, r.plugin("status %s", r.Target()))
	case stops && len(r.Leaving) > 0:
		return operate.Refuse("%s", r.keepVolumes())
	}
	return nil
}
