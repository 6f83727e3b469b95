// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// stage is held by tests that leave nodes, druid and the webhook as they are, all of
// them at once, and by tests that don't, one at a time.
var stage sync.RWMutex

// beside begins a test that leaves others alone.
func beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	stage.RLock()
	t.Cleanup(stage.RUnlock)
}

// room is for how many members there is at once in tests that have clusters of their
// own. More than a small machine can run keep each other waiting for seconds, and such a
// member is dead to every observer. A test that fits starts first, so that the tests that
// mostly wait, for etcd-druid to notice, begin at once. Who waits keeps a place among
// the tests that may run in parallel: there must be more of those than tests.
var room = struct {
	*sync.Cond
	left int
}{sync.NewCond(&sync.Mutex{}), 10}

// operating begins a test that operates clusters of its own, beside others, with so
// many members at once.
func operating(t *testing.T, members int) {
	t.Helper()
	beside(t)
	enter(t, members)
}

// enter waits until there is room for so many members beside those that are there.
// No one enters who has entered: two that wait for each other would wait for ever.
func enter(t *testing.T, members int) {
	t.Helper()
	room.L.Lock()
	defer room.L.Unlock()
	for room.left < members {
		room.Wait()
	}
	room.left -= members
	t.Cleanup(func() {
		room.L.Lock()
		defer room.L.Unlock()
		room.left += members
		room.Broadcast()
	})
}

// alone begins a test that drains or cuts off nodes, or changes druid or the webhook.
// It waits for the shared cluster first, so that the others go on meanwhile.
func alone(t *testing.T) {
	t.Helper()
	t.Parallel()
	sharedDruid(t)
	stage.Lock()
	t.Cleanup(stage.Unlock)
}

// sharedNamespace holds the druid cluster that several tests use one after the other,
// because it takes two minutes to come up.
const sharedNamespace = "shared"

// chartNamespace holds the chart's cluster that several tests use one after the other.
// No policy selects it.
const chartNamespace = "shared-chart"

func makeNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreAlreadyExists(kube.Create(ctx, ns)); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

// beginShared makes the shared cluster of druid and does not wait for it.
func beginShared(ctx context.Context) error {
	if err := makeNamespace(ctx, sharedNamespace); err != nil {
		return err
	}
	p := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: sharedNamespace}}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: sharedNamespace}}
	p.Spec.Disruption.Settle = &metav1.Duration{Duration: time.Second}
	if err := client.IgnoreAlreadyExists(kube.Create(ctx, p)); err != nil {
		return fmt.Errorf("create policy %s: %w", sharedNamespace, err)
	}
	_, err := clusters.Apply(ctx, bed, sharedNamespace, "shared", sharedDruidSpec)
	return err
}

// sharedDruidSpec is what the shared cluster of druid is.
var sharedDruidSpec = clusters.Spec{Flavour: clusters.Druid, Size: 3}

// borrowed is held by tests that move the shared cluster's leader, or want it still.
var borrowed sync.Mutex

// borrowDruid is sharedDruid, for one test at a time.
func borrowDruid(t *testing.T) *clusters.Cluster {
	t.Helper()
	c := sharedDruid(t)
	borrowed.Lock()
	t.Cleanup(borrowed.Unlock)
	return c
}

// sharedDruid is a cluster of three members by druid, ready.
func sharedDruid(t *testing.T) *clusters.Cluster {
	t.Helper()
	c, err := clusters.At(bed, sharedNamespace, "shared", sharedDruidSpec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// borrowedChart is held by the test that uses the shared chart.
var borrowedChart sync.Mutex

// borrowChart is a chart's cluster of three members with TLS, ready, for one test at a
// time, which leaves it as it is.
func borrowChart(t *testing.T) *clusters.Cluster {
	t.Helper()
	borrowedChart.Lock()
	t.Cleanup(borrowedChart.Unlock)
	if err := makeNamespace(t.Context(), chartNamespace); err != nil {
		t.Fatal(err)
	}
	return start(t, chartNamespace, "chart", clusters.Spec{Flavour: clusters.Bitnami, TLS: true, Size: 3})
}
