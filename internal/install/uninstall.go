// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// Uninstall removes etcd-webhook from a cluster and restores what it changed. It doesn't need
// the program itself, which may not be running. After an interruption, it can run again.
type Uninstall struct {
	Kube      client.Client
	Reader    *observe.Reader
	Clock     clock.Clock
	Inventory NamespaceInventory
	// All also deletes the policies and their definition.
	All bool
	// Restore ends the cut of Services of a cluster, under the cluster's lock, and reports it.
	Restore func(ctx context.Context, o owner.Owner, services []string) error
	// Require returns an error if the user lacks a permission.
	Require func(context.Context, []operate.Need) error
	// Waiting is called if the holder of a lock may be dead, with the time to wait for it.
	Waiting func(lock.Holder, time.Duration)
	// Logf reports each completed step. Warnf reports a failed step that doesn't stop others.
	Logf, Warnf func(format string, args ...any)
}

// Plan returns the plan of the uninstallation.
func (u *Uninstall) Plan(found *Installation) operate.Plan {
	p := operate.Plan{Title: "uninstall etcd-webhook"}
	step := func(objects []Object, format string) {
		if len(objects) > 0 {
			p.Steps = append(p.Steps, fmt.Sprintf(format, names(objects)))
		}
	}
	step(found.Webhooks, "delete %s; the API server no longer calls etcd-webhook")
	for _, s := range found.Cut {
		p.Steps = append(p.Steps, fmt.Sprintf("restore client traffic of Service %s/%s", s.Namespace, s.Name))
	}
	step(found.Suspended, "let etcd-druid reconcile %s again, which a cut of client traffic suspended")
	step(slices.Concat(found.Rights, found.Programs), "delete %s; budgets are no longer maintained")
	for i := range found.Budgets {
		p.Steps = append(p.Steps, budgetStep(&found.Budgets[i]))
	}
	for i := range found.Rollouts {
		p.Steps = append(p.Steps, fmt.Sprintf("restore the update strategy of StatefulSet %s/%s; its rollout then continues without regard for the health of etcd", found.Rollouts[i].Namespace, found.Rollouts[i].Name))
	}
	step(found.Rest, "delete %s")
	step(found.Records, "delete %s, the records of cuts that have ended")
	switch {
	case u.All:
		step(found.Policies, "delete %s")
		step(found.Definition, "delete %s")
	case len(found.Policies)+len(found.Definition) > 0:
		p.Facts = append(p.Facts, fmt.Sprintf("policies (%d) and their definition stay without a status, and apply again after a new installation. --all deletes them", len(found.Policies)))
	}
	for _, s := range found.Retained {
		p.Facts = append(p.Facts, s.String())
	}
	p.Subject = strings.Join(p.Steps, "\n")
	p.Facts = append(p.Facts, "no pod restarts. Members keep their scheduling terms until their pods are created again")
	return p
}

func budgetStep(pdb *policyv1.PodDisruptionBudget) string {
	if observe.NotCopied(pdb) {
		return fmt.Sprintf("delete budget %s/%s, which etcd-webhook created", pdb.Namespace, pdb.Name)
	}
	text := fmt.Sprintf("restore budget %s/%s", pdb.Namespace, pdb.Name)
	if original := pdb.Annotations[v1alpha1.BudgetOriginalAnnotation]; original != "" {
		text += " to its author's " + original + " (but not below the quorum)"
	}
	return text
}

// Needs returns the permissions that Run needs.
func (u *Uninstall) Needs(found *Installation) []operate.Need {
	var needs []operate.Need
	for _, p := range u.toDelete(found) {
		for _, verb := range []string{"get", "delete"} {
			needs = append(needs, operate.Need{Verb: verb, Group: p.GroupVersionKind().Group, Resource: p.Resource, Namespace: p.Namespace, Name: p.Name})
		}
	}
	for _, p := range u.retainedPolicies(found) {
		needs = append(needs, operate.Need{Verb: "patch", Group: p.GroupVersionKind().Group, Resource: p.Resource, Subresource: "status", Name: p.Name})
	}
	for _, s := range found.Cut {
		for _, verb := range []string{"get", "patch"} {
			needs = append(needs, operate.Need{Verb: verb, Resource: "services", Namespace: s.Namespace, Name: s.Name})
		}
	}
	for i := range found.Budgets {
		pdb, verb := &found.Budgets[i], "patch"
		if observe.NotCopied(pdb) {
			verb = "delete"
		}
		for _, verb := range []string{"get", verb} {
			needs = append(needs, operate.Need{Verb: verb, Group: policyv1.GroupName, Resource: "poddisruptionbudgets", Namespace: pdb.Namespace, Name: pdb.Name})
		}
	}
	for i := range found.Rollouts {
		for _, verb := range []string{"get", "patch"} {
			needs = append(needs, operate.Need{Verb: verb, Group: appsv1.GroupName, Resource: "statefulsets", Namespace: found.Rollouts[i].Namespace, Name: found.Rollouts[i].Name})
		}
	}
	return needs
}

// toDelete returns all objects to delete, in their order.
func (u *Uninstall) toDelete(found *Installation) []Object {
	lists := [][]Object{found.Webhooks, found.Rights, found.Programs, found.Rest, found.Records}
	if u.All {
		lists = append(lists, found.Policies, found.Definition)
	}
	var all []Object
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// retainedPolicies returns the policies that are not deleted.
func (u *Uninstall) retainedPolicies(found *Installation) []Object {
	if u.All {
		return nil
	}
	return found.Policies
}

// clearStatus removes the status of a policy, because no program updates it any more.
func (u *Uninstall) clearStatus(ctx context.Context, policy Object, dry dryRun) error {
	nothing := client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))
	if err := u.Kube.Status().Patch(ctx, policy.object(), nothing, dry); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("clear the status of %s: %w", policy, err)
	}
	return nil
}

// Try makes every write in a dry run. If the API server rejects any, it returns a RefusedError
// with all of them.
func (u *Uninstall) Try(ctx context.Context, found *Installation) error {
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

// Run uninstalls etcd-webhook. With wait it returns when all objects are deleted.
func (u *Uninstall) Run(ctx context.Context, found *Installation, wait bool) error {
	if err := u.delete(ctx, found.Webhooks); err != nil {
		return err
	}
	for _, s := range found.Cut {
		if err := u.restore(ctx, client.ObjectKeyFromObject(&s)); err != nil {
			return err
		}
	}
	for _, p := range found.Suspended {
		u.resume(ctx, p)
	}
	// Without permissions the program can't change a budget again, even if it still runs on a
	// partitioned node.
	if err := errors.Join(u.delete(ctx, found.Rights), u.delete(ctx, found.Programs)); err != nil {
		return err
	}
	if err := errors.Join(u.restoreBudgets(ctx), u.restoreRollouts(ctx)); err != nil {
		return err
	}
	for _, p := range u.retainedPolicies(found) {
		if err := u.clearStatus(ctx, p, false); err != nil {
			return err
		}
	}
	if err := u.recheckNamespaces(ctx, found); err != nil {
		return err
	}
	last := u.toDelete(&Installation{Rest: found.Rest, Policies: found.Policies, Definition: found.Definition})
	if err := u.delete(ctx, last); err != nil {
		return err
	}
	for _, p := range found.Records {
		if err := u.deleteRecord(ctx, p); err != nil {
			return err
		}
	}
	if !wait {
		return nil
	}
	return u.awaitGone(ctx, u.toDelete(found))
}

func (u *Uninstall) delete(ctx context.Context, objects []Object) error {
	for _, p := range objects {
		err := u.Kube.Delete(ctx, p.object(), client.Preconditions{UID: &p.UID}, client.PropagationPolicy("Background"))
		switch {
		case meta.IsNoMatchError(err): // its definition was deleted before
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("delete %s: %w", p, err)
		default:
			u.Logf("%s is deleted", p)
		}
	}
	return nil
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

// awaitGone waits until none of the objects exists.
func (u *Uninstall) awaitGone(ctx context.Context, objects []Object) error {
	for {
		var left []Object
		for _, p := range objects {
			there := p.DeepCopy()
			err := u.Kube.Get(ctx, client.ObjectKeyFromObject(there), there)
			switch {
			case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			case ctx.Err() != nil:
				return fmt.Errorf("wait until %s is gone: %w", p, context.Cause(ctx))
			case err != nil:
				return fmt.Errorf("check whether %s is gone: %w", p, err)
			case there.UID == p.UID:
				left = append(left, p)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s is gone: %w", names(left), context.Cause(ctx))
		case <-u.Clock.After(300 * time.Millisecond):
		}
		objects = left
	}
}
