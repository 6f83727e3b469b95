// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const byApp, byPod = "matchLabels: {app: etcd}", "matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}"

// foreign adds a budget of another author.
func foreign(s *stage, name, spec string) {
	s.Put(controllertest.Parse(s.t, fmt.Sprintf("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, uid: %s, namespace: store}, spec: {%s}}", name, name, spec))[0])
}

// TestOursStaysBesideUselessBudget checks that a foreign budget that can't protect the
// members takes ours away under no circumstances, and that one that can does.
func TestOursStaysBesideUselessBudget(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, spec string
		pods       func(*stage)
		want       []string
		note       policy.Reason
	}{
		{"one member", "minAvailable: 1, selector: {" + byPod + "}", nil,
			[]string{"etcd-quorum minAvailable=2 AllReady", "theirs minAvailable=1 -"}, reasons.BudgetPartial},
		{"AlwaysAllow", "minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {" + byApp + "}", nil,
			[]string{"theirs minAvailable=2 AllReady"}, policy.Reason{}},
		{"AlwaysAllow, and no guard of evictions", "minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {" + byApp + "}", func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Disruption.Evictions = v1alpha1.ModeWarn })
		},
			[]string{"etcd-quorum minAvailable=2 AllReady", "theirs minAvailable=2 AllReady"}, reasons.BudgetAlwaysAllow},
		{"the whole namespace", "maxUnavailable: 2, selector: {}", nil,
			[]string{"etcd-quorum minAvailable=2 AllReady", "theirs maxUnavailable=1 AllReady"}, reasons.BudgetSelectsAll},
		{"other pods, too", "minAvailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [etcd, web]}]}", func(s *stage) {
			s.Put(readyPod("web", map[string]string{"app": "web"}))
		}, []string{"etcd-quorum minAvailable=2 AllReady", "theirs minAvailable=3 AllReady"}, reasons.BudgetNotAlone},
		{"neither field", "selector: {" + byApp + "}", nil,
			[]string{"etcd-quorum minAvailable=2 AllReady", "theirs ? -"}, reasons.BudgetNoField},
		{"a percentage", "minAvailable: 34%, selector: {" + byApp + "}", nil, []string{"theirs minAvailable=2 AllReady"}, policy.Reason{}},
		{"all members", "maxUnavailable: 2, selector: {" + byApp + "}", nil, []string{"theirs maxUnavailable=1 AllReady"}, policy.Reason{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			controllertest.Recorded(t, s.events)
			if row.pods != nil {
				row.pods(s)
			}
			foreign(s, "theirs", row.spec)
			s.expect(row.want...)
			got := strings.Join(controllertest.Recorded(t, s.events), "\n")
			if row.note != (policy.Reason{}) && strings.Count(got, "Warning "+row.note.Name()) != 2 {
				t.Errorf("recorded %q, want %s on the budget and on the owner", got, row.note)
			}
			if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Kept {
				t.Errorf("found %+v", f)
			} else if twice := len(row.want) == 2; twice != strings.Contains(f.Message, "every eviction of it fails with an internal error") {
				t.Errorf("found %+v", f)
			}
			if row.note == (policy.Reason{}) && strings.Count(got, "BudgetRemoved") != 2 {
				t.Errorf("recorded %q, want BudgetRemoved on the budget and on the owner", got)
			}
		})
	}
}

func readyPod(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "store", UID: types.UID(name), Labels: labels},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

// TestOursGoesAfterForeignIsTight checks the order: the foreign budget has its value before
// ours goes, and ours stays if that write is denied.
func TestOursGoesAfterForeignIsTight(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	foreign(s, "theirs", "minAvailable: 0, selector: {"+byApp+"}")
	s.DenyPatches = true
	s.reconcile()
	if want := []string{"etcd-quorum minAvailable=2 AllReady", "theirs minAvailable=0 -"}; !slices.Equal(s.budgets(), want) {
		t.Errorf("budgets are %q while writes are denied, want %q", s.budgets(), want)
	}
	s.DenyPatches = false
	s.expect("theirs minAvailable=2 AllReady")
}

// TestPartialBudgetTightens checks that a budget over some members gets no number that its
// pods can't meet, becomes stricter with the facts, and has its author's value again when
// nothing is wrong.
func TestPartialBudgetTightens(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {createMissing: true}}")
	removeBudget(s, "etcd")
	foreign(s, "theirs", "minAvailable: 0, selector: {"+byPod+"}")
	s.expect("theirs minAvailable=0 -")
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.expect("theirs minAvailable=1 MemberDown")
	setReady(s, "etcd-2", corev1.ConditionFalse)
	s.expect("theirs minAvailable=1 QuorumAtRisk")
	setReady(s, "etcd-1", corev1.ConditionTrue)
	setReady(s, "etcd-2", corev1.ConditionTrue)
	s.expect("theirs minAvailable=1 QuorumAtRisk")
	s.advance(time.Minute)
	s.expect("theirs minAvailable=0 -")
	// Tightened while it covered all members, it covers one now.
	change(s, "theirs", func(p *policyv1.PodDisruptionBudget) {
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "etcd"}}
	})
	s.expect("theirs minAvailable=2 AllReady")
	change(s, "theirs", func(p *policyv1.PodDisruptionBudget) {
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": "etcd-0"}}
	})
	s.reconcile()
	s.advance(time.Minute)
	s.expect("theirs minAvailable=0 -")
}

// TestOverlappingBudgetsTighten checks that two budgets over all members both become
// stricter, and neither looser than its author wrote it.
func TestOverlappingBudgetsTighten(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}")
	s.expect("etcd maxUnavailable=1 -", "theirs minAvailable=2 AllReady")
	setReady(s, "etcd-1", corev1.ConditionFalse)
	setReady(s, "etcd-2", corev1.ConditionFalse)
	s.expect("etcd maxUnavailable=0 QuorumAtRisk", "theirs minAvailable=3 QuorumAtRisk")
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
	s.expect("etcd maxUnavailable=0 QuorumAtRisk", "theirs minAvailable=3 QuorumAtRisk")
	s.advance(time.Minute)
	s.expect("etcd maxUnavailable=1 -", "theirs minAvailable=2 -")
}

// TestSharedBudgetTightens checks that a budget over two clusters is kept at a number at which
// all evictions together may take members of the same cluster.
func TestSharedBudgetTightens(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	s.expect("theirs minAvailable=5 AllReady")
	setReady(s, "events-0", corev1.ConditionFalse)
	s.expect("theirs minAvailable=5 MemberDown")
	s.key.Name = "events"
	s.expect("theirs minAvailable=5 MemberDown")
	setReady(s, "events-1", corev1.ConditionFalse)
	s.expect("theirs minAvailable=6 QuorumAtRisk")
	s.key.Name = "etcd"
	s.expect("theirs minAvailable=6 QuorumAtRisk")
}

// sharing is a stage with a budget of another author over two clusters of three, etcd and events.
func sharing(t *testing.T) *stage {
	t.Helper()
	s := plain(t, "{}")
	removeBudget(s, "etcd")
	foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}")
	for _, o := range controllertest.Parse(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: events, namespace: store, uid: events}
spec: {replicas: 3, serviceName: "", selector: {matchLabels: {which: events}}, template: {metadata: {labels: {app: etcd, which: events}}, spec: {containers: [{name: etcd, command: [etcd], readinessProbe: {tcpSocket: {port: 1}}}]}}}
`) {
		s.Put(o)
	}
	for i := range 3 {
		p := readyPod(fmt.Sprintf("events-%d", i), map[string]string{"app": "etcd", "which": "events"})
		p.UID = types.UID(p.Name)
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "events", UID: "events", Controller: new(true)}}
		p.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd"}, ReadinessProbe: &corev1.Probe{}}}
		s.Put(p)
	}
	return s
}
