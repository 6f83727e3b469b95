// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// patchedBudgets keeps the last patch, and lists budgets.
type patchedBudgets struct {
	client.Client
	objects observetest.Objects
	patch   string
}

func (p *patchedBudgets) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	body, err := patch.Data(obj)
	p.patch = string(body)
	return err
}

func (p *patchedBudgets) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return p.objects.List(ctx, list, opts...)
}

// memberSet is a StatefulSet of one member that lists others, and its pod.
func memberSet(name string, listed ...string) string {
	var entries []string
	for _, other := range listed {
		entries = append(entries, other+"=http://"+other+":2380")
	}
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %[1]s, namespace: team, uid: %[1]s-uid}
spec:
  replicas: 1
  selector: {matchLabels: {member: %[1]s}}
  template:
    metadata: {labels: {member: %[1]s}}
    spec: {containers: [{name: etcd, command: [etcd, --name=%[1]s, "--initial-advertise-peer-urls=http://%[1]s:2380", "--initial-cluster=%[2]s"]}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: %[1]s-0
  namespace: team
  uid: %[1]s-0-uid
  labels: {member: %[1]s, statefulset.kubernetes.io/pod-name: %[1]s-0}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: %[1]s, uid: %[1]s-uid, controller: true}]
spec: {containers: [{name: etcd}]}
---
`, name, strings.Join(entries, ","))
}

// TestRestoredBudgetKeepsQuorum checks that the budget of a cluster that spans StatefulSets keeps the
// quorum of the voters there are, whichever of them it was kept for, and that the evictions that
// admission recorded are removed with the rest.
func TestRestoredBudgetKeepsQuorum(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, objects, kept, selects string
		want                         string
	}{
		{"kept for the one that leads", memberSet("a", "a", "b", "c") + memberSet("b", "a", "b", "c") + memberSet("c", "a", "b", "c"), "a", "a, b, c", `"spec":{"minAvailable":2}`},
		{"kept for one that leads no more", memberSet("a", "a", "b", "c") + memberSet("b", "a", "b", "c") + memberSet("c", "a", "b", "c"), "b", "a, b, c", `"spec":{"minAvailable":2}`},
		{"kept for one that is gone", memberSet("b", "a", "b", "c") + memberSet("c", "a", "b", "c"), "a", "a, b, c", `"spec":{"minAvailable":2}`},
		{"kept for one that has left", memberSet("a", "a") + memberSet("b", "b", "c", "d") + memberSet("c", "b", "c", "d") + memberSet("d", "b", "c", "d"), "a", "b, c, d", `"spec":{"minAvailable":2}`},
		{"shared by one that has left", memberSet("a", "a") + memberSet("b", "b", "c", "d") + memberSet("c", "b", "c", "d") + memberSet("d", "b", "c", "d"), "a", "a, b, c, d", `"spec":{"minAvailable":3}`},
		{"no member is left", "", "a", "a, b, c", `"spec":{"minAvailable":0}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			scheme := runtime.NewScheme()
			if err := observe.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			objects, err := observetest.Parse(scheme, []byte(row.objects+`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: all
  namespace: team
  uid: all-uid
  annotations:
    kubectl-etcd.dev/budget-for: StatefulSet/`+row.kept+`
    kubectl-etcd.dev/budget-value: minAvailable=4
    kubectl-etcd.dev/budget-original: minAvailable=0
    kubectl-etcd.dev/evictions: b-0=b-0-uid@2026-11-20T10:00:00Z
spec: {minAvailable: 4, selector: {matchExpressions: [{key: member, operator: In, values: [`+row.selects+`]}]}}
`))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				if pod, is := o.(*corev1.Pod); is {
					pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				}
			}
			kube := &patchedBudgets{objects: objects}
			u := &Uninstaller{Kube: kube, Clock: clock.RealClock{}, Reader: &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}}
			held, err := heldBudgets(t.Context(), kube)
			if err != nil || len(held) != 1 {
				t.Fatalf("%d budgets are held: %v", len(held), err)
			}
			if err := u.restoreBudget(t.Context(), &held[0], false); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(kube.patch, row.want) || !strings.Contains(kube.patch, `"kubectl-etcd.dev/evictions":null`) {
				t.Errorf("patched %s, want %s and no evictions", kube.patch, row.want)
			}
		})
	}
}

// TestEvictionsOfForeignBudget checks that the record of evictions is removed from a budget that this
// project doesn't keep.
func TestEvictionsOfForeignBudget(t *testing.T) {
	t.Parallel()
	foreign := &policyv1.PodDisruptionBudget{}
	foreign.Namespace, foreign.Name, foreign.UID = "team", "theirs", "theirs"
	foreign.Annotations = map[string]string{"kubectl-etcd.dev/evictions": "a-0=u@2026-11-20T10:00:00Z"}
	kube := &patchedBudgets{objects: observetest.Objects{foreign}}
	held, err := heldBudgets(t.Context(), kube)
	if err != nil || len(held) != 1 {
		t.Fatalf("%d budgets are held: %v", len(held), err)
	}
	u := &Uninstaller{Kube: kube, Clock: clock.RealClock{}, Reader: &observe.Reader{Reader: kube.objects, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}}
	if err := u.restoreBudget(t.Context(), &held[0], false); err != nil || !strings.Contains(kube.patch, `"kubectl-etcd.dev/evictions":null`) || strings.Contains(kube.patch, "spec") {
		t.Errorf("patched %s: %v", kube.patch, err)
	}
}
