// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// etcdContainer begins the path of a field of the member container.
const etcdContainer = "/spec/template/spec/containers/0"

// byHand is a row whose fix is an order: the fix has to name what, and a person who follows it types the JSON patch
// with, which ends what the JSON patch breaks began.
func byHand(id, result, breaks, what, with string) cure {
	return cure{
		id: id, result: result,
		build: func(t *testing.T, c *clusters.Cluster) {
			t.Helper()
			typeLine(t, patchOps(c, breaks))
		},
		choose: func(t *testing.T, c *clusters.Cluster, fix string) string {
			t.Helper()
			if !strings.Contains(fix, what) {
				t.Fatalf("the fix of %s is %q, without %q", id, fix, what)
			}
			return patchOps(c, with)
		},
	}
}

func patchOps(c *clusters.Cluster, ops string) string {
	return "kubectl patch statefulset " + c.Full() + " -n " + c.Namespace + " --type=json -p '[" + ops + "]'"
}

// editCureRows are states of a StatefulSet that a person ends in its manifest. Each breaks the template and mends it again.
func editCureRows() []cure {
	const replace, add, remove = `{"op":"replace","path":"`, `{"op":"add","path":"`, `{"op":"remove","path":"`
	// "other" is a version that the mirror of a person has, for example.
	const mirror = "registry.example/etcd:other"
	setImage := func(image string) string { return replace + etcdContainer + `/image","value":"` + image + `"}` }
	memory := func(request, limit string) string {
		return replace + etcdContainer + `/resources","value":{"requests":{"cpu":"20m","memory":"` + request + `"},"limits":{"memory":"` + limit + `"}}}`
	}
	compacting := byHand("D005", "Info", remove+etcdContainer+`/livenessProbe"}`, "--auto-compaction-mode=periodic --auto-compaction-retention=1h",
		add+etcdContainer+`/args/-","value":"--auto-compaction-mode=periodic"},`+add+etcdContainer+`/args/-","value":"--auto-compaction-retention=1h"}`)
	edit := compacting.choose
	compacting.choose = func(t *testing.T, c *clusters.Cluster, fix string) string { // the check reads the pod
		t.Helper()
		return edit(t, c, fix) + " && kubectl delete pod " + c.Full() + "-0 -n " + c.Namespace
	}
	return []cure{
		compacting,
		byHand("W002", "Warning", remove+etcdContainer+`/readinessProbe"}`, "add a readiness probe on /readyz",
			add+etcdContainer+`/readinessProbe","value":{"httpGet":{"path":"/readyz","port":8080}}}`),
		byHand("W005", "Warning", memory("8Ki", "8Ki"), "raise its memory limit to at least ", memory("64Mi", "256Mi")),
		byHand("W006", "Warning", replace+`/spec/template/spec/terminationGracePeriodSeconds","value":2}`, "set terminationGracePeriodSeconds to 30",
			replace+`/spec/template/spec/terminationGracePeriodSeconds","value":30}`),
		byHand("W007", "Warning", setImage("docker.io/bitnami/etcd:3.5.21"), "a mirror of yours", setImage(mirror)),
		byHand("W008", "Warning", setImage("registry.example/etcd"), "name a version", setImage(mirror)),
	}
}

// TestCuresTypedByHand is TestCuresTyped for orders: a person chooses a value and edits the workload. With the strategy
// OnDelete, the edits alone restart nothing.
func TestCuresTypedByHand(t *testing.T) {
	operating(t, 1)
	typeCures(t, editCureRows(), clusters.Spec{Flavour: clusters.Plain, Size: 1, Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	}})
}
