// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// LeavingClaim is a claim that is being deleted, and its volume. Kubernetes removes it when no pod mounts it any more.
type LeavingClaim struct{ Name, Volume string }

// findLeaving records a claim that is being deleted. If its volume stays without it, the restore gives the member a new claim.
// The restore into an Etcd gives all members new claims.
func (r *Plan) findLeaving(ctx context.Context, kube client.Client, l LeavingClaim) error {
	var volume corev1.PersistentVolume
	err := kube.Get(ctx, client.ObjectKey{Name: l.Volume}, &volume)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return fmt.Errorf("read PersistentVolume %s: %w", l.Volume, err)
	}
	switch {
	case volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain:
		r.Leaving = append(r.Leaving, l)
	case r.Druid == nil:
		r.Ending = append(r.Ending, l.Name)
	}
	return nil
}

// leavingClaims returns why old data can't be kept: it is lost with its claim when the members stop. No pod is to be deleted
// for it: with the pod of a survivor, or of two of three members, the cluster would lose what answers.
func (r Plan) leavingClaims() error {
	if len(r.Leaving) == 0 {
		return nil
	}
	return r.refuse("%s. Then run the same command again: it gives the members new claims, and the volumes stay, as PersistentVolumes that are Released. Delete no pod before that", r.keepVolumes(r.saveFirst()))
}

// saveFirst returns how to save what the members have before anything changes, as a sentence before another. It is empty if
// none answers.
func (r Plan) saveFirst() string {
	if !r.Answers && !r.Saved {
		return ""
	}
	return fmt.Sprintf("Save the data first: %s. ", r.plugin("snapshot save %s %s", r.Target(), r.Owner.Name+".db"))
}

// keepVolumes returns which claims are being deleted, and how to keep their volumes. first is a sentence before that.
func (r Plan) keepVolumes(first string) string {
	var names, keep []string
	for _, l := range r.Leaving {
		names = append(names, l.Name)
		keep = append(keep, fmt.Sprintf(`kubectl%s patch pv %s -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`, r.Flags.Context, l.Volume))
	}
	return fmt.Sprintf("%s being deleted, and the data is lost when no pod mounts it any more. %sKeep the volumes first: %s",
		policy.Names(claimsNamed(names), "is", "are"), first, strings.Join(keep, "; "))
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
func (r Plan) claimsMayContinue(rec *progress.Record) error {
	replaced := slices.Concat(r.lostClaims(), r.Ending)
	gone := slices.DeleteFunc(slices.Clone(r.GoneSince), func(c string) bool { return r.Druid != nil || slices.Contains(replaced, c) })
	if len(gone) == 0 && len(r.endingSince) > 0 && !slices.Contains(r.begun(rec), stopped) {
		return operate.Refuse("%s being deleted since the restore into %s began, and gone when its members stop. Undo the restore while they run, and begin it again, which gives the members new claims: %s",
			policy.Names(claimsNamed(r.endingSince), "is", "are"), r.Owner, r.plugin("snapshot restore %s --abort", r.Target()))
	}
	if len(gone) == 0 {
		return r.leavingClaims()
	}
	return operate.Refuse("%[1]s gone since the restore into %[2]s began, and its data with it. Create each again (kubectl create -f FILE -n %[3]s), with the labels, the size and the storage class that kubectl get pvc -n %[3]s -o yaml shows of the claims of the other members. Then repeat the command",
		policy.Names(claimsNamed(gone), "is", "are"), r.Owner, r.Owner.Namespace)
}

// claimsMayUndo returns why the old data can't come back, since other clients have deleted or are deleting its claims.
// stops is true if the undoing stops members.
func (r Plan) claimsMayUndo(stops bool) error {
	switch {
	case len(r.GoneSince) > 0:
		return operate.Refuse("%s gone since the restore into %s began, and its data with it: members would start on new volumes, without data. Continue the restore with its snapshot instead: %s shows the command",
			policy.Names(claimsNamed(r.GoneSince), "is", "are"), r.Owner, r.plugin("status %s", r.Target()))
	case stops && len(r.Leaving) > 0:
		return operate.Refuse("%s", r.keepVolumes(""))
	}
	return nil
}
