// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// heldRollouts returns the StatefulSets with a record of a rollout.
func heldRollouts(ctx context.Context, kube client.Client, options ...client.ListOption) ([]appsv1.StatefulSet, error) {
	var list appsv1.StatefulSetList
	if err := kube.List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	var held []appsv1.StatefulSet
	for _, sts := range list.Items {
		if observe.RolloutHeld(sts.Annotations) {
			held = append(held, sts)
		}
	}
	return held, nil
}

// restoreRollouts gives the author's update strategy back to every StatefulSet with a record. A
// failure for one doesn't stop the others.
func (u *Uninstall) restoreRollouts(ctx context.Context) error {
	held, err := heldRollouts(ctx, u.Kube)
	if err != nil {
		return err
	}
	var failed []error
	for i := range held {
		sts := &held[i]
		// Its controller writes a StatefulSet after each step of a pod.
		what := fmt.Sprintf("the update strategy of StatefulSet %s/%s", sts.Namespace, sts.Name)
		restored, err := retryRestore(ctx, u.Kube, what, sts, func() error { return u.restoreRollout(ctx, sts, false) })
		if err != nil {
			failed = append(failed, err)
		}
		if restored {
			u.Logf("the rollout of StatefulSet %s/%s is not held any more", sts.Namespace, sts.Name)
		}
	}
	return errors.Join(failed...)
}

func (u *Uninstall) restoreRollout(ctx context.Context, sts *appsv1.StatefulSet, dry dryRun) error {
	patch, err := observe.RestoreRollout(sts, u.Clock.Now())
	if err != nil || patch == nil {
		return err
	}
	if err := u.Kube.Patch(ctx, sts.DeepCopy(), patch, dry); err != nil {
		return fmt.Errorf("restore the update strategy of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return nil
}
