// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// holdTime is how long a budget or a pod must stay unchanged. A faulty controller would release it within
// a second.
const holdTime = 15 * time.Second

// stays checks each second of holdTime that a condition holds. The condition ends the test where it
// doesn't.
func stays(t *testing.T, condition func()) {
	t.Helper()
	for end := time.Now().Add(holdTime); time.Now().Before(end); time.Sleep(time.Second) {
		condition()
	}
}

// staysAt checks that a budget's minAvailable doesn't fall below least during holdTime.
func staysAt(t *testing.T, ns, name string, least int) {
	t.Helper()
	stays(t, func() {
		var b policyv1.PodDisruptionBudget
		if err := kube.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &b); err != nil {
			t.Fatal(err)
		}
		if b.Spec.MinAvailable.IntValue() < least {
			t.Fatalf("budget %s is at minAvailable %s, want at least %d: %v", name, b.Spec.MinAvailable, least, b.Annotations)
		}
	})
}

// admitsNone checks that the API server refuses the eviction of every member with one of the
// codes.
func admitsNone(t *testing.T, c *clusters.Cluster, codes ...int32) {
	t.Helper()
	for _, m := range members(t, c) {
		eventually(t, "an eviction of "+m.Pod.Name+" to be refused", func(ctx context.Context) (string, bool, error) {
			answer, err := c.MayEvict(ctx, m.Pod.Name)
			return fmt.Sprintf("%d %s", answer.Code, answer.Message), slices.Contains(codes, answer.Code), err
		})
	}
}

// TestHoldTie creates a second policy of the same priority. It releases nothing, and both
// policies report the cluster as unprotected. A policy that is switched off releases the budget
// after its settle time.
func TestHoldTie(t *testing.T) {
	operating(t, 3)
	ns, p := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	ours := awaitMin(t, c, 2, policy.AllReady.Name())
	second := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns + "-2"}, Spec: *p.Spec.DeepCopy()}
	second.Spec.Mode = v1alpha1.ModeWarn
	if err := kube.Create(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, second) })
	eventually(t, "both policies to report the cluster as unprotected", func(ctx context.Context) (string, bool, error) {
		unprotected := []int32{}
		for _, name := range []string{p.Name, second.Name} {
			var found v1alpha1.EtcdTopologyPolicy
			if err := kube.Get(ctx, client.ObjectKey{Name: name}, &found); err != nil {
				return "", false, err
			}
			unprotected = append(unprotected, found.Status.Unprotected)
		}
		return fmt.Sprint(unprotected), unprotected[0] == 1 && unprotected[1] == 1, nil
	})
	staysAt(t, ns, ours.Name, 2)
	awaitEvent(t, c, "the same priority", "only tightened")

	remove(t, second)
	awaitMin(t, c, 2, policy.AllReady.Name())
	before := p.DeepCopy()
	p.Spec.Mode, p.Spec.Disruption.Settle = v1alpha1.ModeOff, &metav1.Duration{Duration: 2 * holdTime}
	if err := kube.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	staysAt(t, ns, ours.Name, 2)
	eventually(t, "our budget to be deleted after the settle time", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(ours), &policyv1.PodDisruptionBudget{})
		return "the budget still exists", apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	awaitEvent(t, c, "deleted budget "+ours.Name)
}

// TestHoldPartialBudget checks that a budget over one member doesn't replace ours.
func TestHoldPartialBudget(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	ours := awaitMin(t, c, 2, policy.AllReady.Name())
	first := members(t, c)[0].Pod.Name
	one := intstr.FromInt32(1)
	partial := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "keep-0"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": first}},
		},
	}
	if err := kube.Create(t.Context(), partial); err != nil {
		t.Fatal(err)
	}
	awaitEvent(t, c, "keep-0", "selects 1 of the 3 members")
	staysAt(t, ns, ours.Name, 2)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(partial), partial); err != nil {
		t.Fatal(err)
	}
	if partial.Spec.MinAvailable.IntValue() != 1 {
		t.Errorf("keep-0 is at minAvailable %s", partial.Spec.MinAvailable)
	}
	// The two other members may be evicted one after the other, but not at the same time.
	second, third := members(t, c)[1].Pod.Name, members(t, c)[2].Pod.Name
	eventually(t, second+" to be evicted", func(ctx context.Context) (string, bool, error) {
		answer, err := c.Evict(ctx, second)
		return answer.Message, answer.Code == http.StatusCreated, err
	})
	if answer, err := c.Evict(t.Context(), third); err != nil || answer.Code != http.StatusTooManyRequests {
		t.Errorf("the eviction of %s got %d %s, %v", third, answer.Code, answer.Message, err)
	}
	works(t, c)
}

// TestHoldSize scales a StatefulSet from five to three with kubectl. The budget retains the
// quorum of the five voters that etcd has.
func TestHoldSize(t *testing.T) {
	operating(t, 5)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 5, Ephemeral: true})
	ours := awaitMin(t, c, 3, policy.AllReady.Name())
	if err := c.Scale(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two pods to be deleted", func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		err := kube.List(ctx, &pods, client.InNamespace(ns))
		return fmt.Sprintf("%d pods", len(pods.Items)), len(pods.Items) == 3, err
	})
	awaitMin(t, c, 3, policy.MemberDown.Name())
	staysAt(t, ns, ours.Name, 3)
	admitsNone(t, c, http.StatusTooManyRequests)
	awaitEvent(t, c, "5 voters, of which 3 have pods")
	works(t, c)

	size := "3"
	if err := c.Annotate(t.Context(), v1alpha1.SizeAnnotation, &size); err != nil {
		t.Fatal(err)
	}
	awaitMin(t, c, 2, policy.AllReady.Name())
}
