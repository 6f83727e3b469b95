// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// unbudgeted returns a cluster of three StatefulSets that no budget selects, and a function with which
// its budget selects all members again.
func unbudgeted(t *testing.T) (*liveObjects, func()) {
	t.Helper()
	live := spanningCluster(t, "a/1", "b/1", "c/1")
	var members *metav1.LabelSelector
	change(live, "all", func(b *policyv1.PodDisruptionBudget) {
		members, b.Spec.Selector = b.Spec.Selector, &metav1.LabelSelector{MatchLabels: map[string]string{"other": "pods"}}
	})
	for _, name := range []string{"a", "b", "c"} {
		change(live, name, func(s *appsv1.StatefulSet) { s.ResourceVersion = "1" })
	}
	return live, func() {
		change(live, "all", func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = members })
	}
}

func recordsOf(live *liveObjects, name string) (records string) {
	change(live, name, func(s *appsv1.StatefulSet) { records = s.Annotations[v1alpha1.EvictionsAnnotation] })
	return records
}

// TestEvictionsWithoutBudget holds that evictions in the same moment know of each other while no budget
// selects the members: the first StatefulSet by name records them. A record counts as well once there is
// a budget again.
func TestEvictionsWithoutBudget(t *testing.T) {
	t.Parallel()
	live, restore := unbudgeted(t)
	one, other := expectation{t, replica(t, live, live)}, expectation{t, replica(t, live, live)}
	one.gets("b-0", evictionOf("b-0"), true, "QuorumKept")
	other.gets("a-0 beside it", evictionOf("a-0"), false, "EvictionUnderWay")
	one.gets("c-0 beside it", evictionOf("c-0"), false, "EvictionUnderWay")
	if got := recordsOf(live, "a"); got != "b-0=b-0-uid@2026-11-20T10:00:00Z" || recordsOf(live, "b")+recordsOf(live, "c") != "" {
		t.Errorf("StatefulSet a records %q", got)
	}
	restore()
	one.gets("a-0, when a budget selects the members again", evictionOf("a-0"), false, "EvictionUnderWay")
	change(live, "b-0", func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(testNow)) })
	one.gets("a-0, while b-0 is being deleted", evictionOf("a-0"), false, "QuorumNeedsMember")
	change(live, "b-0", func(p *corev1.Pod) { p.DeletionTimestamp, p.UID = nil, "new" })
	one.gets("a-0, when b-0 is back", evictionOf("a-0"), true, "QuorumKept")
}

// TestUnbudgetedConflicts holds that an eviction is decided again if another client wrote the StatefulSet
// meanwhile, or created a budget, and refused if that goes on.
func TestUnbudgetedConflicts(t *testing.T) {
	t.Parallel()
	const record = "c-0=c-0-uid@2026-11-20T10:00:00Z"
	touch := func(s *appsv1.StatefulSet) { s.ResourceVersion += "x" }
	for name, row := range map[string]struct {
		meanwhile func(live *liveObjects, budget func())
		always    bool
		allowed   bool
		reason    string
	}{
		"its status": {
			meanwhile: func(live *liveObjects, _ func()) { change(live, "a", touch) },
			allowed:   true, reason: "QuorumKept",
		},
		"an eviction": {
			meanwhile: func(live *liveObjects, _ func()) {
				change(live, "a", func(s *appsv1.StatefulSet) {
					touch(s)
					s.Annotations = map[string]string{v1alpha1.EvictionsAnnotation: record}
				})
			},
			reason: "EvictionUnderWay",
		},
		"its replicas": {
			meanwhile: func(live *liveObjects, _ func()) {
				change(live, "a", func(s *appsv1.StatefulSet) { touch(s); s.Spec.Replicas = new(int32(0)) })
			},
			reason: "QuorumNeedsMember",
		},
		"a budget with an eviction": {
			meanwhile: func(live *liveObjects, budget func()) {
				budget()
				change(live, "a", touch)
				change(live, "all", func(b *policyv1.PodDisruptionBudget) {
					b.Annotations = map[string]string{v1alpha1.EvictionsAnnotation: record}
				})
			},
			reason: "EvictionUnderWay",
		},
		"all the time": {
			meanwhile: func(live *liveObjects, _ func()) { change(live, "a", touch) },
			always:    true, reason: reasons.BudgetBusy.Name(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, budget := unbudgeted(t)
			wrote := false
			live.before = func() {
				if !wrote || row.always {
					wrote = true
					row.meanwhile(live, budget)
				}
			}
			expectation{t, replica(t, live, live)}.gets("b-0", evictionOf("b-0"), row.allowed, row.reason)
		})
	}
}

// TestUnbudgetedScale holds that a write of the replicas counts the evictions that a StatefulSet records,
// and records nothing on it: the API server would refuse the write itself then.
func TestUnbudgetedScale(t *testing.T) {
	t.Parallel()
	live, _ := unbudgeted(t)
	e := expectation{t, replica(t, live, live)}
	e.gets("b-0", evictionOf("b-0"), true, "QuorumKept")
	e.gets("c to 0", scaleOf("c", 1, 0), false, "VotersLost")
	if live.patches != 1 {
		t.Errorf("%d records", live.patches)
	}
}
