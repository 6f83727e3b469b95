// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// countedReads counts the requests to the API server, and the objects in the answers.
type countedReads struct {
	client.Reader
	mu                sync.Mutex
	requests, objects int
	got               map[string]int
}

func (c *countedReads) add(objects int, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.got == nil {
		c.got = map[string]int{}
	}
	c.requests, c.objects, c.got[what] = c.requests+1, c.objects+objects, c.got[what]+1
}

func (c *countedReads) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c.add(1, fmt.Sprintf("%T %s", obj, key.Name))
	return c.Reader.Get(ctx, key, obj, opts...)
}

func (c *countedReads) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := c.Reader.List(ctx, list, opts...)
	c.add(meta.LenList(list), fmt.Sprintf("%T", list))
	return err
}

// addForeign adds foreign pods, StatefulSets and claims to a namespace. All have the labels of the members.
func addForeign(live *liveObjects, n int) {
	for i := range n {
		name := fmt.Sprintf("foreign-%d", i)
		labels := map[string]string{"app": "a"}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, Labels: labels}}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name}}
		live.objects = append(live.objects, pod, claim)
		if i%10 == 0 {
			live.objects = append(live.objects, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, Labels: labels}})
		}
	}
}

// readsOf returns what one request costs the API server beside as many foreign pods.
func readsOf(t *testing.T, foreign int, request string) *countedReads {
	t.Helper()
	live := spanningCluster(t, "a/2", "b/1")
	r := evictionOf("a-0")
	if request == "scale" {
		r = scaleOf("b", 1, 0)
	}
	addForeign(live, foreign)
	// What the server would have from its cache.
	cache := &liveObjects{objects: live.objects}
	counted := &countedReads{Reader: live}
	reader := readerOf(nil)
	reader.Reader, reader.Live = cache, counted
	if got := register(t, reader, live).handle(t, r); !got.Allowed {
		t.Fatalf("%+v", got.Result)
	}
	return counted
}

// TestReadsOfGuards holds that a guard reads its cluster, and not the namespace: 5,000 foreign pods
// cost no request and no object more than none.
func TestReadsOfGuards(t *testing.T) {
	t.Parallel()
	for _, request := range []string{"eviction", "scale"} {
		alone, beside := readsOf(t, 0, request), readsOf(t, 5000, request)
		if alone.requests != beside.requests || alone.objects != beside.objects {
			t.Errorf("%s: %d requests for %d objects beside 5,000 pods, %d for %d alone", request, beside.requests, beside.objects, alone.requests, alone.objects)
		}
		for what, n := range beside.got {
			if n > 1 {
				t.Errorf("%s: read %s %d times", request, what, n)
			}
		}
		t.Logf("%s: %d requests", request, alone.requests)
	}
}

// TestConflictReadsBudgetOnly holds that a request that is decided again because the budget was
// written reads nothing but that budget, and still counts the eviction that the other client recorded
// of a pod that has gone meanwhile.
func TestConflictReadsBudgetOnly(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	counted := &countedReads{Reader: live}
	reader := readerOf(nil)
	reader.Reader, reader.Live = live, counted
	server := register(t, reader, live)
	writes := 0
	live.before = func() {
		if writes++; writes > 3 {
			return
		}
		change(live, "budget", func(b *policyv1.PodDisruptionBudget) { b.ResourceVersion += "x" })
	}
	if got := server.handle(t, evict("plain-0")); !got.Allowed || writes != 4 {
		t.Fatalf("%d writes, %+v", writes, got)
	}
	for what, n := range counted.got {
		budget := what == "*v1.PodDisruptionBudget budget"
		if budget && n != 3 || !budget && n != 1 {
			t.Errorf("read %s %d times", what, n)
		}
	}
}

// TestRecordOfGonePodCounts holds that two replicas of which one has read the pods before an eviction
// don't take two voters: five members, of which a-0 is gone by the time that b-1 is recorded.
func TestRecordOfGonePodCounts(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/2", "b/3")
	server := replica(t, live, live)
	e := expectation{t, server}
	stale := false
	live.before = func() {
		if stale {
			return
		}
		stale = true
		// While the first request waits for its write, others evict a-0, which goes, and then b-1.
		e.gets("a-0", evictionOf("a-0"), true, "QuorumKept")
		change(live, "a-0", func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(testNow)) })
		e.gets("b-1", evictionOf("b-1"), true, "QuorumKept")
	}
	e.gets("b-2, by old pods", evictionOf("b-2"), false, "EvictionUnderWay")
	change(live, "all", func(b *policyv1.PodDisruptionBudget) {
		if text := b.Annotations[v1alpha1.EvictionsAnnotation]; text != "b-1=b-1-uid@2026-11-20T10:00:00Z,a-0=a-0-uid@2026-11-20T10:00:00Z" {
			t.Errorf("recorded %q", text)
		}
	})
}

// TestTooManyReplicas holds that a StatefulSet with more pods than any cluster has costs no reads.
func TestTooManyReplicas(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	change(live, "plain", func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(1 << 30)) })
	counted := &countedReads{Reader: live}
	reader := readerOf(nil)
	reader.Reader, reader.Live = live, counted
	got := register(t, reader, live).handle(t, evict("plain-0"))
	if !got.Allowed || reasonOf(got) != "Unobserved" || counted.requests > 3 {
		t.Errorf("%d requests, %+v", counted.requests, got)
	}
}
