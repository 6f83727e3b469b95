// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
)

// replicaAt returns a server with a clock of its own.
func replicaAt(tb testing.TB, live *liveObjects, at time.Time) (testServer, *testclock.FakePassiveClock) {
	tb.Helper()
	c := testclock.NewFakePassiveClock(at)
	r := &observe.Reader{Reader: live, Leases: &leaseclock.Clock{Clock: c}}
	return register(tb, r, live), c
}

// TestClocksDiffer holds that replicas count each other's records although their clocks differ, and
// that a record of an eviction that did not happen blocks no other for longer than a minute.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-85 * time.Second, -20 * time.Second, 0, 5 * time.Minute, 365 * 24 * time.Hour} {
		live, evict := guarded(t)
		writer, _ := replicaAt(t, live, testNow.Add(ahead))
		reader, now := replicaAt(t, live, testNow)
		expectation{t, writer}.gets("plain-0", evict("plain-0"), true, "QuorumKept")
		e := expectation{t, reader}
		e.gets("plain-1 at once, the other clock is ahead by "+ahead.String(), evict("plain-1"), false, "EvictionUnderWay")
		now.SetTime(testNow.Add(61 * time.Second)) // the API server refused the eviction: plain-0 is still there
		e.gets("plain-1 a minute later, the other clock is ahead by "+ahead.String(), evict("plain-1"), true, "QuorumKept")
	}
}

// TestSharedBudgetKeepsRecords holds that an eviction in one cluster doesn't remove those of another
// whose members the same budget selects.
func TestSharedBudgetKeepsRecords(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	for _, o := range spanningCluster(t, "a/1", "b/1", "c/1").objects {
		switch o.(type) {
		case *appsv1.StatefulSet, *corev1.Pod:
			live.objects = append(live.objects, o)
		}
	}
	change(live, "budget", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.Selector, b.Status.DisruptionsAllowed = &metav1.LabelSelector{}, 2
	})
	e := expectation{t, replica(t, live, live)}
	e.gets("a-0", evictionOf("a-0"), true, "QuorumKept")
	e.gets("plain-0", evict("plain-0"), true, "QuorumKept")
	e.gets("b-0", evictionOf("b-0"), false, "EvictionUnderWay")
	e.gets("plain-1", evict("plain-1"), false, "EvictionUnderWay")
}

// TestNothingIsRecordedThatFails holds that an eviction that the API server is about to refuse
// doesn't block the others: it means a pod that is gone, or two budgets select its pod.
func TestNothingIsRecordedThatFails(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	e := expectation{t, replica(t, live, live)}
	request := evict("plain-0")
	request.Object.Raw = []byte(`{"metadata":{"name":"plain-0"},"deleteOptions":{"preconditions":{"uid":"before"}}}`)
	e.gets("a pod that is gone", request, true, "NotMember")
	request.Object.Raw = []byte(`{"metadata":{"name":"plain-0"},"deleteOptions":{"preconditions":{"uid":"plain-0-uid"}}}`)
	second := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "second", UID: "second"}}
	second.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": "plain-0"}}
	second.Status.DisruptionsAllowed = 1
	live.objects = append(live.objects, second)
	e.gets("a pod with two budgets", request, true, "QuorumKept")
	if live.patches != 0 {
		t.Errorf("%d records", live.patches)
	}
	e.gets("another pod", evict("plain-1"), true, "QuorumKept")
}

// TestScaleInThenEvictions holds that members without a replica count as gone as soon as the
// StatefulSet is written, although its controller has not deleted them yet.
func TestScaleInThenEvictions(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/1", "b/1", "c/1", "d/1", "e/1")
	e := expectation{t, replica(t, live, live)}
	e.gets("e to 0", scaleOf("e", 1, 0), true, "VotersLeft")
	setReplicas(live, "e", 0)
	e.gets("a-0", evictionOf("a-0"), true, "QuorumKept")
	e.gets("b-0", evictionOf("b-0"), false, "EvictionUnderWay")
	e.gets("d to 0 beside an eviction", scaleOf("d", 1, 0), false, "VotersLost")

	live = spanningCluster(t, "a/5")
	e = expectation{t, replica(t, live, live)}
	setReplicas(live, "a", 3)
	for _, pod := range []string{"a-0", "a-1", "a-2"} {
		e.gets(pod+" of the three that stay", evictionOf(pod), false, "QuorumNeedsMember")
	}
}

// TestTwoEvictionsOfFive holds that five members let two go, and no third one.
func TestTwoEvictionsOfFive(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/2", "b/3")
	e := expectation{t, replica(t, live, live)}
	e.gets("a-0", evictionOf("a-0"), true, "QuorumKept")
	e.gets("b-1", evictionOf("b-1"), true, "QuorumKept")
	e.gets("b-2", evictionOf("b-2"), false, "EvictionUnderWay")
	change(live, "a-0", func(p *corev1.Pod) { p.UID = "new" }) // it is back, and Ready
	e.gets("b-2", evictionOf("b-2"), true, "QuorumKept")
	change(live, "all", func(b *policyv1.PodDisruptionBudget) {
		if text := b.Annotations[v1alpha1.EvictionsAnnotation]; text != "b-2=b-2-uid@2026-11-20T10:00:00Z,b-1=b-1-uid@2026-11-20T10:00:00Z,a-0=a-0-uid@2026-11-20T10:00:00Z" {
			t.Errorf("recorded %q", text)
		}
	})
}

// TestReleasedPodsAreMembers takes the label away that the StatefulSet selects, so that it releases its pods.
func TestReleasedPodsAreMembers(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	for _, name := range []string{"plain-1", "plain-2"} {
		change(live, name, func(pod *corev1.Pod) {
			pod.OwnerReferences, pod.Labels = nil, map[string]string{appsv1.StatefulSetPodNameLabel: name}
		})
	}
	e := expectation{t, replica(t, live, live)}
	e.gets("plain-1, which its StatefulSet released", evict("plain-1"), true, "QuorumKept")
	e.gets("plain-2, which its StatefulSet released", evict("plain-2"), false, "EvictionUnderWay")
	e.gets("plain-0", evict("plain-0"), false, "EvictionUnderWay")
}
