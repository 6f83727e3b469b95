// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/cures"
)

// workloadCureRows are states of a StatefulSet, of which a cure restarts the members or creates it again.
var workloadCureRows = []cure{
	{id: "W001", result: "Warning"},
	{id: "W012", result: "Warning", build: patchSet(`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}}}}`)},
	{id: "W010", result: "Warning", build: patchSet(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}},"template":{"metadata":{"annotations":{"cures":"again"}}}}}`)},
	{id: "W009", result: "Warning", build: startInOrder, choose: saveElsewhere},
}

// TestCuresTypedOnWorkload is TestCuresTyped for cures that change a StatefulSet. A restart between the rows ends before
// the next state, because a cure waits until all members are healthy.
func TestCuresTypedOnWorkload(t *testing.T) {
	operating(t, 3)
	typeCures(t, workloadCureRows, cures.TypedOnWorkload(), clusters.Spec{Flavour: clusters.Plain, Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/health"
	}})
}

// patchSet changes the StatefulSet once all members are ready.
func patchSet(patch string) func(*testing.T, *clusters.Cluster) {
	return func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		if err := c.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		typeLine(t, "kubectl patch statefulset "+c.Full()+" --type=merge -p '"+patch+"' -n "+c.Namespace)
	}
}

// startInOrder creates the StatefulSet again, so that it starts its pods one after the other.
func startInOrder(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if err := c.WaitReady(t.Context()); err != nil { // W010's rollout
		t.Fatal(err)
	}
	set, in, file := "statefulset "+c.Full(), " -n "+c.Namespace, filepath.Join(t.TempDir(), "set.yaml")
	typeLine(t, "kubectl get "+set+" -o yaml"+in+" > "+file)
	typeLine(t, "kubectl delete "+set+" --cascade=orphan"+in)
	typeLine(t, "sed 's/podManagementPolicy: Parallel/podManagementPolicy: OrderedReady/' "+file+" | kubectl create -f -"+in)
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
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
