// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// Uninstaller removes etcd-webhook from a cluster and restores what it changed. It doesn't need
// the program itself, which may not be running. After an interruption, it can run again.
type Uninstaller struct {
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
	// Flags are the user's flags of kubectl for commands that are printed, each after a space.
	Flags string
	// Logf reports each completed step. Warnf reports a failed step that doesn't stop others.
	Logf, Warnf func(format string, args ...any)
}

// toDelete returns all objects to delete, in their order.
func (u *Uninstaller) toDelete(found *Installation) []Object {
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
func (u *Uninstaller) retainedPolicies(found *Installation) []Object {
	if u.All {
		return nil
	}
	return found.Policies
}

// clearStatus removes the status of a policy, because no program updates it any more.
func (u *Uninstaller) clearStatus(ctx context.Context, policy Object, dry dryRun) error {
	nothing := client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))
	if err := u.Kube.Status().Patch(ctx, policy.object(), nothing, dry); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("clear the status of %s: %w", policy, err)
	}
	return nil
}

// Run uninstalls etcd-webhook. With wait it returns when all objects are deleted.
func (u *Uninstaller) Run(ctx context.Context, found *Installation, wait bool) error {
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
	if err := errors.Join(u.restoreRolloutsAndBudgets(ctx), u.removeEvictions(ctx)); err != nil {
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

// restoreRolloutsAndBudgets restores the rollouts first: whether a member hangs may be recorded on a budget only. So
// if a rollout is neither released nor has that record, the budgets of its namespace stay until the command runs again.
func (u *Uninstaller) restoreRolloutsAndBudgets(ctx context.Context) error {
	held, err := heldRollouts(ctx, u.Kube)
	if err != nil {
		return err
	}
	undone, err := u.restoreRollouts(ctx, held)
	return errors.Join(err, u.restoreBudgets(ctx, undone))
}

func (u *Uninstaller) delete(ctx context.Context, objects []Object) error {
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

// awaitGone waits until none of the objects exists.
func (u *Uninstaller) awaitGone(ctx context.Context, objects []Object) error {
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
