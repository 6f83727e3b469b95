// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// failBackups makes the store unwritable while a user writes to the cluster. Without new data,
// no backup is due, and none could fail.
func failBackups(ctx context.Context, w *World) error {
	writer := w.main.Write(ctx)
	defer writer.Stop()
	w.Do("make the backup store of %s unwritable, while a client writes to it", w.main)
	if err := w.main.BreakStore(ctx); err != nil {
		return err
	}
	err := w.whileFailing(ctx)
	w.Do("make the store writable again and take a full snapshot")
	if healed := w.main.HealStore(context.WithoutCancel(ctx)); err == nil {
		err = healed
	}
	if err != nil {
		return err
	}
	return w.afterFailing(ctx)
}

func (w *World) whileFailing(ctx context.Context) error {
	if err := w.main.AwaitCondition(ctx, limit, clusters.BackupReady, "False"); err != nil {
		return err
	}
	condition, _, err := w.main.Condition(ctx, clusters.BackupReady)
	if err != nil {
		return err
	}
	w.Report("druid: %s: %s", condition, condition.Message)
	if _, err := w.awaitBudget(ctx, w.main, 3, policy.BackupFailing.Name()); err != nil {
		return err
	}
	members, err := w.main.Members(ctx)
	if err != nil {
		return err
	}
	if err := w.drainWaits(ctx, w.main, members[0].Node); err != nil {
		return err
	}
	if err := w.disturb(ctx, "backup"); err != nil {
		return err
	}
	w.Report("backupHoldLimit is %s", w.holdLimit())
	if _, err := w.awaitBudget(ctx, w.main, 2, budget.BackupFailingTooLong.Name()); err != nil {
		return err
	}
	event, err := w.awaitEvent(ctx, w.main, budget.BackupFailingTooLong.Name())
	if err != nil {
		return err
	}
	w.Report("Event %s %s: %s", event.Type, event.Reason, event.Message)
	w.Good("the hold has ended, loudly")
	return nil
}

func (w *World) afterFailing(ctx context.Context) error {
	if err := w.main.SnapshotFull(ctx); err != nil {
		return err
	}
	if err := w.main.AwaitCondition(ctx, limit, clusters.BackupReady, "True"); err != nil {
		return err
	}
	if _, err := w.awaitBudget(ctx, w.main, 2, policy.AllReady.Name()); err != nil {
		return err
	}
	err := clusters.Await(ctx, limit, "the end of the hold", func(ctx context.Context) (string, bool, error) {
		var pdb policyv1.PodDisruptionBudget
		err := w.Client.Get(ctx, client.ObjectKey{Namespace: w.main.Namespace, Name: w.main.Name}, &pdb)
		since := pdb.Annotations[v1alpha1.BudgetHoldSinceAnnotation]
		return "held since " + since, since == "", err
	})
	if err != nil {
		return err
	}
	w.Good("backups are well: minAvailable 2, and nothing is remembered of the hold")
	return nil
}

// awaitEvent returns a Warning with the reason about the cluster's owner.
func (w *World) awaitEvent(ctx context.Context, c *clusters.Cluster, reason string) (corev1.Event, error) {
	var found corev1.Event
	what := fmt.Sprintf("a Warning %s about %s", reason, c)
	err := clusters.Await(ctx, limit, what, func(ctx context.Context) (string, bool, error) {
		var events corev1.EventList
		if err := w.Client.List(ctx, &events, client.InNamespace(c.Namespace)); err != nil {
			return "", false, err
		}
		for _, e := range events.Items {
			if e.Reason == reason && e.InvolvedObject.Name == c.Name && e.Type == corev1.EventTypeWarning {
				found = e
				return "", true, nil
			}
		}
		return fmt.Sprintf("%d other Events", len(events.Items)), false, nil
	})
	return found, err
}
