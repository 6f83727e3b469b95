// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	foreignBudget = "foreign"
	backupLease   = "backup"
	backupMaxAge  = time.Hour
)

// unguard marks that no policy is in force. A rollout in progress is held by nothing from now on,
// also after a policy is in force again.
func (w *world) unguard(ctx context.Context) error {
	seen, done, err := w.rolledOut(ctx)
	if err != nil {
		return err
	}
	if !done {
		w.saw("a rollout is in progress: %s", seen)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.policyReturns, w.facts.guarded = false, false
	w.facts.loose = w.facts.loose || !done
	return nil
}

// guardAgain waits briefly until a policy is in force again.
func (w *world) guardAgain(ctx context.Context) {
	w.mu.Lock()
	w.policyReturns = true
	w.mu.Unlock()
	w.briefly(ctx, "the policy to be in force", func(context.Context) (string, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return "", w.facts.guarded, nil
	})
}

// deletePolicy deletes the policy, and creates it again.
func deletePolicy(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	if err := w.unguard(ctx); err != nil {
		return "", nil, err
	}
	if err := w.kube.Delete(ctx, w.policy.DeepCopy()); client.IgnoreNotFound(err) != nil {
		return "", nil, err
	}
	return "deleted", func(ctx context.Context) error {
		if err := w.kube.Create(ctx, w.policy.DeepCopy()); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
		w.guardAgain(ctx)
		return nil
	}, nil
}

// switchPolicyOff sets the policy's mode to Off, and to Enforce again.
func switchPolicyOff(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	if err := w.unguard(ctx); err != nil {
		return "", nil, err
	}
	if err := w.setMode(ctx, v1alpha1.ModeOff); err != nil {
		return "", nil, err
	}
	return "Off", func(ctx context.Context) error {
		if err := w.setMode(ctx, v1alpha1.ModeEnforce); err != nil {
			return err
		}
		w.guardAgain(ctx)
		return nil
	}, nil
}

func (w *world) setMode(ctx context.Context, mode v1alpha1.Mode) error {
	patch := fmt.Appendf(nil, `{"spec":{"mode":%q}}`, mode)
	return w.kube.Patch(ctx, w.policy.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
}

// createForeignBudget creates a user's budget over the members, which etcd-webhook adopts. Later
// it deletes it, and etcd-webhook creates its own again.
func createForeignBudget(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	one := intstr.FromInt32(1)
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.cluster.Namespace, Name: foreignBudget},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: w.cluster.MemberLabels()}, MaxUnavailable: &one},
	}
	if err := w.kube.Create(ctx, b.DeepCopy()); client.IgnoreAlreadyExists(err) != nil {
		return "", nil, err
	}
	w.awaitOnlyBudget(ctx, foreignBudget)
	return "maxUnavailable 1", func(ctx context.Context) error {
		if err := w.kube.Delete(ctx, b.DeepCopy()); client.IgnoreNotFound(err) != nil {
			return err
		}
		w.awaitOnlyBudget(ctx, "")
		return nil
	}, nil
}

// deleteBudget deletes the budget that etcd-webhook created, which creates it again.
func deleteBudget(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	b, err := w.managed(ctx)
	if err != nil {
		return "", nil, err
	}
	if b == nil || b.Name == foreignBudget {
		return "left out: no budget was created by etcd-webhook", nil, nil
	}
	if err := w.kube.Delete(ctx, b); client.IgnoreNotFound(err) != nil {
		return "", nil, err
	}
	w.awaitOnlyBudget(ctx, "")
	return "deleted " + b.Name, nil, nil
}

// loosenBudget writes a number into the managed budget that allows every eviction. etcd-webhook
// makes it stricter in the same request.
func loosenBudget(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	b, err := w.managed(ctx)
	if err != nil {
		return "", nil, err
	}
	if b == nil {
		return "left out: no budget is managed", nil, nil
	}
	patch := `{"spec":{"minAvailable":0}}`
	if b.Spec.MaxUnavailable != nil {
		patch = fmt.Sprintf(`{"spec":{"maxUnavailable":%d}}`, w.size)
	}
	if err := w.kube.Patch(ctx, b, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return err.Error(), nil, nil //nolint:nilerr // a refusal is an outcome
	}
	return fmt.Sprintf("asked for %s, got min %s, max %s", patch, b.Spec.MinAvailable, b.Spec.MaxUnavailable), nil, nil
}

// managed returns the budget that etcd-webhook manages, or nil.
func (w *world) managed(ctx context.Context) (*policyv1.PodDisruptionBudget, error) {
	all, managed, err := w.budgets(ctx)
	if err != nil || len(managed) == 0 {
		return nil, err
	}
	i := slices.IndexFunc(all, func(b policyv1.PodDisruptionBudget) bool { return b.Name == managed[0] })
	return &all[i], nil
}

// failBackups makes the last backup too old, until the fault ends.
func failBackups(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	if err := w.renewBackup(ctx, now().Add(-2*backupMaxAge)); err != nil {
		return "", nil, err
	}
	return "the last backup is too old", func(ctx context.Context) error { return w.renewBackup(ctx, now()) }, nil
}

// renewBackup sets the time of the last backup.
func (w *world) renewBackup(ctx context.Context, at time.Time) error {
	l := &coordinationv1.Lease{}
	l.Namespace, l.Name = w.cluster.Namespace, backupLease
	text, err := metav1.NewMicroTime(at).MarshalJSON()
	if err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"spec":{"renewTime":%s}}`, text)
	return w.kube.Patch(ctx, l, client.RawPatch(types.MergePatchType, patch))
}
