// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// sharedByTwo are two clusters of three healthy members, a and b. change edits the StatefulSet of a.
func sharedByTwo(t *testing.T, change func(a *appsv1.StatefulSet)) observetest.Objects {
	t.Helper()
	var objects observetest.Objects
	for _, name := range []string{"zones-3", "policy-default", "policy-of-loose"} {
		objects = append(objects, readObjects(t, filepath.Join("testdata", name+".facts.yaml"))...)
	}
	for _, name := range []string{"a", "b"} {
		sts := setOf(name, 3, []string{name + "-0=http://" + name + "-0." + name + ":2380"})
		if name == "a" {
			change(sts)
		}
		objects = append(objects, sts)
		for i := range 3 {
			objects = append(objects, podOf(sts, i))
		}
	}
	return objects
}

// TestWriteOfSharedBudget checks that a budget over two clusters is not loosened while a policy keeps it for
// one of them, whatever the policies are of the other, and whichever of them the cache lists first.
func TestWriteOfSharedBudget(t *testing.T) {
	t.Parallel()
	loose := func(mode string) func(*appsv1.StatefulSet) {
		return func(a *appsv1.StatefulSet) { a.Labels = map[string]string{"loose": mode} }
	}
	for name, change := range map[string]func(*appsv1.StatefulSet){
		"kept": func(*appsv1.StatefulSet) {},
		"opted out": func(a *appsv1.StatefulSet) {
			a.Annotations = map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}
		},
		"mode Off":     loose("off"),
		"mode Warn":    loose("warn"),
		"two policies": loose("tie"),
	} {
		for _, recorded := range []string{"a", "b"} {
			for _, reversed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, recorded for %s, reversed %t", name, recorded, reversed), func(t *testing.T) {
					t.Parallel()
					objects := sharedByTwo(t, change)
					if reversed {
						slices.Reverse(objects)
					}
					old, asked := sharedBudget(recorded, 5), sharedBudget(recorded, 1)
					g := generated{resource: budgetResource}
					r := g.review(t, serve(t, objects), old, asked)
					if got := parseBudget(t, apply(t, asked, r)).Spec.MinAvailable.IntValue(); got != 5 {
						t.Errorf("minAvailable is %d: %v", got, r.AuditAnnotations)
					}
				})
			}
		}
	}
}

func sharedBudget(recorded string, minAvailable int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"budget","namespace":"db","annotations":{
"kubectl-etcd.dev/budget-for":"StatefulSet/%s","kubectl-etcd.dev/budget-value":"minAvailable=5","kubectl-etcd.dev/budget-original":"minAvailable=1","kubectl-etcd.dev/budget-reason":"AllReady"}},
"spec":{"minAvailable":%d,"selector":{"matchExpressions":[{"key":"app","operator":"In","values":["a","b"]}]}}}`, recorded, minAvailable)
}

// TestWriteOfSharedBudgetThatNoPolicyKeeps checks that such a write passes as it is.
func TestWriteOfSharedBudgetThatNoPolicyKeeps(t *testing.T) {
	t.Parallel()
	objects := sharedByTwo(t, func(*appsv1.StatefulSet) {})
	objects = slices.DeleteFunc(objects, func(o client.Object) bool { _, is := o.(*v1alpha1.EtcdTopologyPolicy); return is })
	g := generated{resource: budgetResource}
	if r := g.review(t, serve(t, objects), sharedBudget("other", 5), sharedBudget("other", 1)); len(r.Patches) > 0 {
		t.Errorf("%v", r.Patches)
	}
}
