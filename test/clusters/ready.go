// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WaitReady waits until every member runs what its owner requires and is Ready, and until all
// conditions of a druid cluster are good.
func (c *Cluster) WaitReady(ctx context.Context) error { return c.WaitReadyWithin(ctx, readyLimit) }

// WaitReadyWithin is WaitReady with the caller's limit.
func (c *Cluster) WaitReadyWithin(ctx context.Context, limit time.Duration) error {
	return Await(ctx, limit, fmt.Sprintf("cluster %s to be Ready", c), c.isReady)
}

func (c *Cluster) isReady(ctx context.Context) (string, bool, error) {
	var seen []string
	done := true
	if c.Flavour == Druid {
		etcd, err := c.Etcd(ctx)
		if err != nil {
			return "", false, err
		}
		text, ok := c.etcdReady(etcd)
		seen, done = append(seen, text), ok
	}
	text, ok, err := c.statefulSetReady(ctx)
	if err != nil {
		return strings.Join(seen, "; "), false, err
	}
	seen, done = append(seen, text), done && ok
	if done {
		return "Ready", true, nil
	}
	members, err := c.Members(ctx)
	if err != nil {
		return strings.Join(seen, "; "), false, err
	}
	for _, m := range members {
		seen = append(seen, m.String())
	}
	return strings.Join(seen, "; "), false, nil
}

// etcdReady reports whether druid's conditions for all members and for the backups are
// True.
func (c *Cluster) etcdReady(etcd *druidv1alpha1.Etcd) (string, bool) {
	conditions := conditionsOf(etcd)
	wanted := []string{Quorate, AllMembersReady, string(druidv1alpha1.ConditionTypeAllMembersUpdated)}
	if etcd.Spec.Backup.Store != nil {
		wanted = append(wanted, BackupReady)
	}
	seen := "conditions " + summary(conditions)
	if last := etcd.Status.LastErrors; len(last) > 0 {
		seen += ", last error " + last[0].Description
	}
	for _, kind := range wanted {
		if condition, ok := pick(conditions, kind); !ok || condition.Status != "True" {
			return seen, false
		}
	}
	// Two conditions have the values from before the request to scale.
	return seen, len(etcd.Status.Members) >= int(etcd.Spec.Replicas)
}

// StatefulSet returns the StatefulSet that the members belong to.
func (c *Cluster) StatefulSet(ctx context.Context) (*appsv1.StatefulSet, error) {
	var set appsv1.StatefulSet
	if err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Full()}, &set); err != nil {
		return nil, fmt.Errorf("read StatefulSet %s/%s: %w", c.Namespace, c.Full(), err)
	}
	return &set, nil
}

func (c *Cluster) statefulSetReady(ctx context.Context) (string, bool, error) {
	set, err := c.StatefulSet(ctx)
	if err != nil {
		return "", false, err
	}
	want, s := *set.Spec.Replicas, set.Status
	seen := fmt.Sprintf("%d of %d pods Ready, %d updated", s.ReadyReplicas, want, s.UpdatedReplicas)
	if s.ObservedGeneration < set.Generation {
		return seen + ", not yet seen by its controller", false, nil
	}
	return seen, s.Replicas == want && s.ReadyReplicas == want && s.UpdatedReplicas == want, nil
}
