// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// Try makes every write in a dry run. If the API server rejects any, it returns a RefusedError
// with all of them.
func (u *Uninstaller) Try(ctx context.Context, found *Installation) error {
	var why []string
	note := func(err error) {
		if err = client.IgnoreNotFound(err); err != nil && !apierrors.IsConflict(err) {
			why = append(why, err.Error())
		}
	}
	for _, p := range u.toDelete(found) {
		note(u.Kube.Delete(ctx, p.object(), client.DryRunAll))
	}
	for _, p := range u.retainedPolicies(found) {
		note(u.clearStatus(ctx, p, true))
	}
	for _, s := range found.Cut {
		note(traffic.TryRestore(ctx, u.Kube, &s))
	}
	for i := range found.Rollouts {
		note(u.restoreRollout(ctx, &found.Rollouts[i], true))
	}
	for i := range found.Held {
		note(u.recordHeld(ctx, &found.Held[i], true))
	}
	protected := len(why)
	for i := range found.Budgets {
		note(u.restoreBudget(ctx, &found.Budgets[i], true))
	}
	if len(why) == 0 {
		return nil
	}
	if protected < len(why) {
		why = append(why, "if another webhook protects budgets from you but not from etcd-webhook, as etcd-druid's can, let etcd-webhook restore them: "+
			"set spec.mode of the EtcdTopologyPolicies to Off, wait until no budget has the annotation "+v1alpha1.BudgetForAnnotation+", and run this command again")
	}
	return &operate.RefusedError{What: "uninstall etcd-webhook", Why: why}
}

// dryRun is an option of writes. If it is true, the API server doesn't persist them.
type dryRun bool

// ApplyToDelete implements client.DeleteOption.
func (d dryRun) ApplyToDelete(o *client.DeleteOptions) {
	if d {
		client.DryRunAll.ApplyToDelete(o)
	}
}

// ApplyToPatch implements client.PatchOption.
func (d dryRun) ApplyToPatch(o *client.PatchOptions) {
	if d {
		client.DryRunAll.ApplyToPatch(o)
	}
}

// ApplyToSubResourcePatch implements client.SubResourcePatchOption.
func (d dryRun) ApplyToSubResourcePatch(o *client.SubResourcePatchOptions) {
	if d {
		client.DryRunAll.ApplyToSubResourcePatch(o)
	}
}
