// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// limit is the timeout of every wait. A machine may be slow, and no test measures time.
const limit = 12 * time.Minute

// eventually waits until condition reports that the condition is true.
func eventually(t *testing.T, what string, condition clusters.ConditionFunc) {
	t.Helper()
	if err := clusters.Await(t.Context(), limit, what, condition); err != nil {
		t.Fatal(err)
	}
}

// stopwatch returns a function that reports how long this process has run since the call. The
// result excludes the time in which an overloaded machine didn't schedule the process.
func stopwatch(t *testing.T) func() time.Duration {
	t.Helper()
	const tick = 50 * time.Millisecond
	var ticks atomic.Int64
	go func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-ticker.C: // the ticker drops ticks that the process missed
				ticks.Add(1)
			}
		}
	}()
	return func() time.Duration { return time.Duration(ticks.Load()) * tick }
}

// retry calls try until it succeeds. It is for calls that only fail while a member is slow.
func retry(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	eventually(t, what, func(ctx context.Context) (string, bool, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err := try(ctx)
		return "", err == nil, err
	})
}

// works checks that a cluster stores a key and returns it.
func works(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	retry(t, "a key to be stored by "+c.String(), c.PutGet)
}

// namespace creates a namespace for the test. No policy selects it.
func namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	name = fmt.Sprintf("%.50s-%s", name, rand.String(5))
	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
	return name
}

// governed creates a namespace for the test, and a policy that selects only this namespace. The
// policy has a short settle time. governed waits until etcd-webhook has read the policy. change
// may be nil.
func governed(t *testing.T, change func(*v1alpha1.EtcdTopologyPolicySpec)) (namespaceName string, p *v1alpha1.EtcdTopologyPolicy) {
	t.Helper()
	name := namespace(t)
	p = &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: v1alpha1.LabelValue(name)}}
	p.Spec.Disruption.Settle = &metav1.Duration{Duration: time.Second}
	if change != nil {
		change(&p.Spec)
	}
	if err := kube.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}) })
	eventually(t, "etcd-webhook to read policy "+name, func(ctx context.Context) (string, bool, error) {
		var known v1alpha1.EtcdTopologyPolicy
		err := kube.Get(ctx, client.ObjectKeyFromObject(p), &known)
		return "it has no status", known.Status.ObservedGeneration == p.Generation, err
	})
	return name, p
}

func remove(t *testing.T, o client.Object) {
	t.Helper()
	if err := client.IgnoreNotFound(kube.Delete(context.WithoutCancel(t.Context()), o)); err != nil {
		t.Errorf("remove %T %s: %v", o, o.GetName(), err)
	}
}

// start creates a cluster and waits until it is ready.
func start(t *testing.T, namespaceName, name string, spec clusters.Spec) *clusters.Cluster {
	t.Helper()
	c, err := clusters.Apply(t.Context(), bed, namespaceName, name, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// startReviewed is start for a test that needs etcd-webhook's review of every member. It calls
// before each time that it creates the cluster. before may be nil.
func startReviewed(t *testing.T, namespaceName, name string, spec clusters.Spec, before func()) *clusters.Cluster {
	t.Helper()
	return reviewed(t, func() *clusters.Cluster {
		if before != nil {
			before()
		}
		return start(t, namespaceName, name, spec)
	})
}

// reviewed creates a cluster until etcd-webhook has reviewed all of its members. If etcd-webhook
// is too slow, the API server creates the pod without the review.
func reviewed(t *testing.T, begin func() *clusters.Cluster) (c *clusters.Cluster) {
	t.Helper()
	unexplained := 0 // pods without a review that the API server doesn't count as failed open
	eventually(t, "a review of every member", func(ctx context.Context) (string, bool, error) {
		ignored := failedOpen(t)
		c = begin()
		for _, m := range members(t, c) {
			if m.Pod.Annotations[v1alpha1.SpreadAnnotation] != "" {
				continue
			}
			if failedOpen(t) == ignored {
				unexplained++
			}
			if unexplained == 3 {
				t.Fatalf("pod %s was not reviewed, though no review failed", m.Pod.Name)
			}
			return m.Pod.Name + " was not reviewed", false, c.Delete(ctx)
		}
		return "", true, nil
	})
	return c
}

func members(t *testing.T, c *clusters.Cluster) []clusters.Member {
	t.Helper()
	found, err := c.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// budgetOf returns a budget over the pods that the selector matches, with maxUnavailable 1.
func budgetOf(namespaceName, name string, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
	one := intstr.FromInt32(1)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selector, MaxUnavailable: &one},
	}
}

// awaitUnavailable waits for the maxUnavailable of a budget that has this field.
func awaitUnavailable(t *testing.T, b *policyv1.PodDisruptionBudget, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("maxUnavailable %d of budget %s/%s", want, b.Namespace, b.Name), func(ctx context.Context) (string, bool, error) {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return "", false, err
		}
		if b.Spec.MaxUnavailable == nil || b.Spec.MinAvailable != nil {
			return fmt.Sprintf("the budget has another field: %+v", b.Spec), false, nil
		}
		seen := fmt.Sprintf("maxUnavailable %s, %v", b.Spec.MaxUnavailable, b.Annotations)
		return seen, b.Spec.MaxUnavailable.IntValue() == want, nil
	})
}

// awaitMin waits for the minAvailable of the budget that etcd-webhook manages for a cluster, and
// returns the budget.
func awaitMin(t *testing.T, c *clusters.Cluster, want int, reason string) *policyv1.PodDisruptionBudget {
	t.Helper()
	found, err := c.AwaitMin(t.Context(), limit, want, reason)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
