// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// workloadCureRows are states of a StatefulSet, of which a cure restarts the members or creates it again.
var workloadCureRows = []cure{
	{id: "W001", result: "Warning"},
	{id: "W004", result: "Warning", build: isReady},
	{id: "W012", result: "Warning", build: patchSet(`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}}}}`)},
	{id: "W010", result: "Warning", build: patchSet(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}},"template":{"metadata":{"annotations":{"cures":"again"}}}}}`)},
	{id: "W009", result: "Warning", build: startInOrder, choose: saveElsewhere},
}

// TestCuresTypedOnWorkload is TestCuresTyped for cures that change a StatefulSet. A restart between the rows ends before
// the next state, because a cure waits until all members are healthy.
func TestCuresTypedOnWorkload(t *testing.T) {
	operating(t, 3)
	typeCures(t, workloadCureRows, clusters.Spec{Flavour: clusters.Plain, Mutate: func(set *appsv1.StatefulSet) {
		etcd := &set.Spec.Template.Spec.Containers[0]
		etcd.LivenessProbe.HTTPGet.Path = "/health"
		etcd.Resources = corev1.ResourceRequirements{}
	}})
}

// TestCuresTypedOnEvenSize is TestCuresTyped for a cluster of four members, which gets a fifth one.
func TestCuresTypedOnEvenSize(t *testing.T) {
	operating(t, 4)
	typeCures(t, []cure{{id: "Q003", result: "Warning"}}, clusters.Spec{Flavour: clusters.Plain, Size: 4})
}

// TestCuresTypedOnTie is TestCuresTyped for a cluster that two policies of the same priority select.
func TestCuresTypedOnTie(t *testing.T) {
	operating(t, 1)
	ns, p := governed(t, nil)
	second := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns + "-2"}, Spec: *p.Spec.DeepCopy()}
	tie := func(t *testing.T, _ *clusters.Cluster) {
		t.Helper()
		if err := kube.Create(t.Context(), second); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { remove(t, second) })
	typeCuresIn(t, ns, []cure{{id: "G002", result: "Warning", build: tie}}, clusters.Spec{Flavour: clusters.Plain, Size: 1, Ephemeral: true})
}

// isReady waits until all members are ready after the cure of the row before.
func isReady(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// patchSet changes the StatefulSet once all members are ready.
func patchSet(patch string) func(*testing.T, *clusters.Cluster) {
	return func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		isReady(t, c)
		typeLine(t, "kubectl patch statefulset "+c.Full()+" --type=merge -p '"+patch+"' -n "+c.Namespace)
	}
}

// startInOrder creates the StatefulSet again, so that it starts its pods one after the other.
func startInOrder(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	isReady(t, c) // W010's rollout
	set, in, file := "statefulset "+c.Full(), " -n "+c.Namespace, filepath.Join(t.TempDir(), "set.yaml")
	typeLine(t, "kubectl get "+set+" -o yaml"+in+" > "+file)
	typeLine(t, "kubectl delete "+set+" --cascade=orphan"+in)
	typeLine(t, "sed 's/podManagementPolicy: Parallel/podManagementPolicy: OrderedReady/' "+file+" | kubectl create -f -"+in)
	isReady(t, c)
}

// saveElsewhere has the fix of W009 save the StatefulSet in a directory of the test.
func saveElsewhere(t *testing.T, c *clusters.Cluster, fix string) string {
	t.Helper()
	file := c.Full() + "-saved.yaml"
	if !strings.Contains(fix, " > "+file+" && ") {
		t.Fatalf("%q doesn't save the StatefulSet", fix)
	}
	return strings.ReplaceAll(fix, " "+file, " "+filepath.Join(t.TempDir(), file))
}
