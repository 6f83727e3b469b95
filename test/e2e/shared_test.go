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

// stage is a lock. Tests that leave the nodes, druid and the webhook as they are hold it
// together. Each other test holds it alone.
var stage sync.RWMutex

// beside starts a test that doesn't disturb others.
func beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	stage.RLock()
	t.Cleanup(stage.RUnlock)
}

// room limits how many members run at once in tests with their own clusters. More members than a
// small machine can run delay each other for seconds, and such a member appears dead. A test
// that fits starts first. Tests that mostly wait for etcd-druid can thus start at once. A
// waiting test counts as a parallel test, so the limit of parallel tests must be higher than the
// number of tests.
var room = struct {
	*sync.Cond
	left int
}{sync.NewCond(&sync.Mutex{}), 10}

// operating starts a test that operates its own clusters beside other tests. members is the
// number of members that the test runs at once.
func operating(t *testing.T, members int) {
	t.Helper()
	beside(t)
	enter(t, members)
}

// enter waits until there is capacity for this many more members. A test must not call it
// twice: two tests that wait for each other would never end.
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

// alone starts a test that drains or isolates nodes, or that changes druid or the webhook. It
// first waits for the shared cluster, so that other tests can run meanwhile.
func alone(t *testing.T) {
	t.Helper()
	t.Parallel()
	sharedDruid(t)
	stage.Lock()
	t.Cleanup(stage.Unlock)
}

// sharedNamespace is the namespace of the druid cluster that several tests use one after the
// other, because it takes two minutes to start.
const sharedNamespace = "shared"

// chartNamespace is the namespace of the chart's cluster that several tests use one after the
// other. No policy selects this namespace.
const chartNamespace = "shared-chart"

func makeNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreAlreadyExists(kube.Create(ctx, ns)); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

// beginShared creates the shared druid cluster and does not wait for it.
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

// sharedDruidSpec is the spec of the shared druid cluster.
var sharedDruidSpec = clusters.Spec{Flavour: clusters.Druid, Size: 3}

// borrowed is locked by tests that move the leader of the shared cluster, or that need this
// leader to stay.
var borrowed sync.Mutex

// borrowDruid returns the shared druid cluster to one test at a time.
func borrowDruid(t *testing.T) *clusters.Cluster {
	t.Helper()
	c := sharedDruid(t)
	borrowed.Lock()
	t.Cleanup(borrowed.Unlock)
	return c
}

// sharedDruid returns the shared druid cluster of three members when it is ready.
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

// borrowedChart is locked by the test that uses the shared chart's cluster.
var borrowedChart sync.Mutex

// borrowChart returns the shared chart's cluster of three members with TLS to one test at a
// time. The test must leave the cluster as it is.
func borrowChart(t *testing.T) *clusters.Cluster {
	t.Helper()
	borrowedChart.Lock()
	t.Cleanup(borrowedChart.Unlock)
	if err := makeNamespace(t.Context(), chartNamespace); err != nil {
		t.Fatal(err)
	}
	return start(t, chartNamespace, "chart", clusters.Spec{Flavour: clusters.Bitnami, TLS: true, Size: 3})
}
