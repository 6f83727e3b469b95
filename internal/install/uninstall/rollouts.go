// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
)

// heldRollouts returns the StatefulSets with a record of a rollout.
func heldRollouts(ctx context.Context, kube client.Client, options ...client.ListOption) ([]appsv1.StatefulSet, error) {
	return statefulSetsWith(ctx, kube, rollouts.Recorded, options...)
}

// statefulSetsWith returns the StatefulSets that have the annotations.
func statefulSetsWith(ctx context.Context, kube client.Client, has func(annotations map[string]string) bool, options ...client.ListOption) ([]appsv1.StatefulSet, error) {
	var list appsv1.StatefulSetList
	if err := kube.List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(sts appsv1.StatefulSet) bool { return !has(sts.Annotations) }), nil
}

// HeldRollout is a StatefulSet whose rollout stays held.
type HeldRollout struct {
	appsv1.StatefulSet
	// Why is why it is not released, without a full stop.
	Why string
	// Recorded is the reason by which etcd-webhook recorded last that a member is not in order, if its pods may not
	// show it. It is empty for none.
	Recorded string
}

// judgeRollouts moves the rollouts that stay held from Rollouts to Held.
func (u *Uninstaller) judgeRollouts(ctx context.Context, found *Installation) {
	all := found.Rollouts
	found.Rollouts, found.Held = nil, nil
	for i := range all {
		r := rollouts.ReadRemovalOnce(ctx, u.Reader, &all[i])
		if why := r.StaysHeld(); why != "" {
			found.Held = append(found.Held, HeldRollout{all[i], why, r.Recorded})
		} else {
			found.Rollouts = append(found.Rollouts, all[i])
		}
	}
}

// staysHeld returns whole sentences: why a rollout is not released, and the command that releases it later. What is
// recorded of a member that may hang doesn't change any more, so the members must be asked.
func (u *Uninstaller) staysHeld(h HeldRollout) string {
	stays := fmt.Sprintf("The rollout of StatefulSet %s/%s stays held, because its members would restart without regard for the health of etcd: %s. ", h.Namespace, h.Name, h.Why)
	if h.Recorded != "" {
		return stays + "After the uninstallation, this command asks the members, and releases it if all of them are healthy: kubectl etcd sweep --remove -n " + h.Namespace + u.Flags
	}
	release := "kubectl etcd webhook uninstall" + u.Flags
	if patch, err := rollouts.Restored(&h.StatefulSet, u.Clock.Now()); err == nil {
		release = "kubectl patch statefulset " + h.Name + " -n " + h.Namespace + u.Flags + " --type=merge -p '" + patch + "'"
	}
	return stays + "When that is no longer so, release it: " + release
}

// restoreRollouts gives the author's update strategy back to StatefulSets with a record, if the rule about removal
// releases the rollout at this moment. A failure for one doesn't stop the others: undone are their namespaces.
func (u *Uninstaller) restoreRollouts(ctx context.Context, held []appsv1.StatefulSet) (undone []string, err error) {
	var failed []error
	for i := range held {
		if err := u.releaseRollout(ctx, &held[i]); err != nil {
			undone = append(undone, held[i].Namespace)
			failed = append(failed, err)
		}
	}
	return undone, errors.Join(failed...)
}

func (u *Uninstaller) releaseRollout(ctx context.Context, sts *appsv1.StatefulSet) error {
	var held HeldRollout
	one := ""
	// Its controller writes a StatefulSet after each step of a pod, so its members are read again, too.
	what := fmt.Sprintf("the update strategy of StatefulSet %s/%s", sts.Namespace, sts.Name)
	restored, err := retryRestore(ctx, u.Kube, what, sts, func() error {
		r := rollouts.ReadRemovalOnce(ctx, u.Reader, sts)
		if held = (HeldRollout{*sts, r.StaysHeld(), r.Recorded}); held.Why != "" {
			return u.recordHeld(ctx, &held, false)
		}
		one = rollouts.RestoredToOne(sts, u.Clock.Now())
		return u.restoreRollout(ctx, sts, false)
	})
	switch {
	case err != nil:
		return err
	case held.Why != "":
		u.Warnf("%s", u.staysHeld(held))
	case restored:
		u.Logf("the rollout of StatefulSet %s/%s is not held any more", sts.Namespace, sts.Name)
		if one != "" {
			u.Logf("%s", leftAtOne(sts, one))
		}
	}
	return nil
}

// recordHeld records on a StatefulSet the reason that may be recorded on a budget only. The record of the budget is
// removed next, and this command may run again.
func (u *Uninstaller) recordHeld(ctx context.Context, h *HeldRollout, dry dryRun) error {
	if h.Recorded == "" {
		return nil
	}
	patch, err := rollouts.RecordReason(&h.StatefulSet, h.Recorded)
	if err != nil || patch == nil {
		return err
	}
	if err := u.Kube.Patch(ctx, h.DeepCopy(), patch, dry); err != nil {
		return fmt.Errorf("record on StatefulSet %s/%s why its rollout stays held: %w", h.Namespace, h.Name, err)
	}
	return nil
}

// leftAtOne returns that the author's maxUnavailable is not restored while pods are left to restart.
func leftAtOne(sts *appsv1.StatefulSet, number string) string {
	return fmt.Sprintf("StatefulSet %s/%s has maxUnavailable 1 instead of %s now, because pods are left to restart, and several at once can lose the quorum", sts.Namespace, sts.Name, number)
}

func (u *Uninstaller) restoreRollout(ctx context.Context, sts *appsv1.StatefulSet, dry dryRun) error {
	patch, err := rollouts.Restore(sts, u.Clock.Now())
	if err != nil || patch == nil {
		return err
	}
	if err := u.Kube.Patch(ctx, sts.DeepCopy(), patch, dry); err != nil {
		return fmt.Errorf("restore the update strategy of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return nil
}
