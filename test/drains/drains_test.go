// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drains

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// The constants give thirty runs: six rounds for each of five clusters of three members. Each
// round drains half of the nodes with three drains at once, so that each cluster loses the node
// of every member.
const (
	// limit is the timeout of every wait, because a machine may be slow.
	limit = 12 * time.Minute

	drainRounds   = 7 // the first round only moves all members to one half
	drainClusters = 5
	// drained selects the pods to drain. etcd-druid and the webhook are not among them.
	drained = "app in (drained-0, drained-1, drained-2, drained-3, drained-4)"
)

func TestConcurrentDrainsKeepQuorum(t *testing.T) {
	ns := governed(t)
	all := make([]*clusters.Cluster, drainClusters)
	together, ctx := errgroup.WithContext(t.Context())
	for i := range all {
		together.Go(func() (err error) {
			if all[i], err = clusters.Apply(ctx, bed, ns, fmt.Sprintf("drained-%d", i), clusters.Spec{Flavour: clusters.Plain, Size: 3, Mutate: soonReady}); err != nil {
				return err
			}
			return all[i].WaitReady(ctx)
		})
	}
	if err := together.Wait(); err != nil {
		t.Fatal(err)
	}
	// Members that no test needs any more would only make the machine slower.
	t.Cleanup(func() {
		for _, c := range all {
			if err := c.Dismiss(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	for _, c := range all {
		if _, err := c.AwaitMin(t.Context(), limit, 2, policy.AllReady.Name()); err != nil {
			t.Fatal(err)
		}
		watchQuorum(t, c)
	}
	nodes := bed.Nodes()
	for round := range drainRounds {
		// The halves alternate over the zones, so that each half has a node of each zone.
		half := nodes[len(nodes)/2*(round%2):][:len(nodes)/2]
		awaitFull(t, all)
		drainAll(t, half, round)
	}
	awaitFull(t, all)
}

// soonReady makes the kubelet check a member's readiness every second, because a drain mostly
// waits for this. A pod becomes unready only after a minute of failures: each drained leader
// leaves the others without a leader, which takes seconds on a slow machine. An unready pod may
// be evicted while the disruption controller still counts it as Ready (see
// docs/rules/budget.md), but these drains are about healthy members.
func soonReady(set *appsv1.StatefulSet) {
	for _, c := range set.Spec.Template.Spec.Containers {
		if p := c.ReadinessProbe; p != nil {
			p.InitialDelaySeconds, p.PeriodSeconds, p.FailureThreshold = 1, 1, 60
		}
	}
}

// governed creates a namespace in which every cluster gets a budget. The policy has a short
// settle time.
func governed(t *testing.T) string {
	t.Helper()
	const name = "drained"
	p := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: name}}
	p.Spec.Disruption.Settle = &metav1.Duration{Duration: time.Second}
	p.Spec.Disruption.CreateMissing = true
	for _, o := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, p} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

func awaitFull(t *testing.T, all []*clusters.Cluster) {
	t.Helper()
	for _, c := range all {
		if err := c.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// drainAll drains the nodes at once, as a user would, and uncordons them.
func drainAll(t *testing.T, nodes []testbed.Node, round int) {
	t.Helper()
	together, ctx := errgroup.WithContext(t.Context())
	for _, n := range nodes {
		together.Go(func() error {
			var printed bytes.Buffer
			err := clusters.Kubectl(ctx, bed, &printed, "drain", n.Name, "--pod-selector", drained, "--timeout", limit.String())
			if err != nil {
				return fmt.Errorf("round %d: %w\n%s", round, err, printed.String())
			}
			return nil
		})
	}
	err := together.Wait()
	for _, n := range nodes {
		var printed bytes.Buffer
		if err := clusters.Kubectl(context.WithoutCancel(t.Context()), bed, &printed, "uncordon", n.Name); err != nil {
			t.Errorf("%v\n%s", err, printed.String())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
