// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// removeCluster removes the StatefulSet of etcd, and its pods too if they are not orphaned.
func removeCluster(s *stage) {
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		_, set := o.(*appsv1.StatefulSet)
		_, pod := o.(*corev1.Pod)
		return (set || pod) && strings.HasPrefix(o.GetName(), "etcd")
	})
}

func selectWeb(p *policyv1.PodDisruptionBudget) {
	p.Spec.Selector.MatchExpressions[0].Values = []string{"web"}
}

func switchOff(s *stage) {
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
}

// TestEventOfEachChangeOfHands checks that no budget is handed over, released or deleted without an Event on
// the budget, and on the owner that there is.
func TestEventOfEachChangeOfHands(t *testing.T) {
	t.Parallel()
	settle := func(s *stage) {
		for range 2 {
			s.reconcile()
			s.advance(time.Minute)
		}
		s.reconcile()
	}
	for _, row := range []struct {
		name  string
		stage func(*testing.T) *stage
		do    func(*stage)
		want  string
		times int
	}{
		{"handed over, since its cluster is gone", sharing, removeCluster, "Normal BudgetHandedOver budget theirs", 2},
		{"handed over, since its cluster opted out", sharing, (*stage).optOut, "Normal BudgetHandedOver budget theirs", 3},
		{"handed over, since it selects another cluster now", sharing, func(s *stage) {
			change(s, "theirs", func(p *policyv1.PodDisruptionBudget) {
				p.Spec.Selector.MatchLabels = map[string]string{"which": "events"}
			})
		}, "Normal BudgetHandedOver budget theirs", 3},
		{"released, since it selects no members now", plainAdopted, func(s *stage) { change(s, "etcd", selectWeb) }, "Normal BudgetReleased budget etcd", 2},
		{"released, since it selects no members now, and no policy keeps it", plainAdopted, func(s *stage) {
			switchOff(s)
			change(s, "etcd", selectWeb)
		}, "Warning BudgetReleased budget etcd", 2},
		{"released, since its cluster is gone", plainAdopted, removeCluster, "Normal BudgetReleased budget etcd", 1},
		{"deleted, since its cluster is gone", plainCreated, removeCluster, "Normal BudgetRemoved deleted budget etcd-quorum", 1},
		{"deleted, since no policy keeps it", plainCreated, switchOff, "Warning BudgetRemoved deleted budget etcd-quorum", 2},
		{"released, since no policy keeps it", plainAdopted, switchOff, "Warning BudgetReleased budget etcd", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := row.stage(t)
			settle(s)
			controllertest.Recorded(t, s.events)
			row.do(s)
			settle(s)
			got := strings.Join(controllertest.Recorded(t, s.events), "\n")
			if n := strings.Count(got, row.want); n != row.times {
				t.Errorf("%d times %q, want %d, in\n%s", n, row.want, row.times, got)
			}
		})
	}
}

// plainAdopted is the cluster of plain with a budget that the controller has made stricter.
func plainAdopted(t *testing.T) *stage {
	t.Helper()
	s := plain(t, "{disruption: {settle: 60s}}")
	change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable.IntVal = 2 })
	s.expect("etcd maxUnavailable=1 AllReady")
	return s
}

// TestEventOfOtherBudgets checks that a budget which can't protect a cluster alone gets a warning Event when it
// becomes so strict that a drain waits, and a normal one for any other number.
func TestEventOfOtherBudgets(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	s.key.Name = "events"
	expect := func(when, want string) {
		t.Helper()
		s.reconcile()
		got := controllertest.Recorded(t, s.events)
		if n := len(slices.DeleteFunc(got, func(e string) bool { return !strings.HasPrefix(e, want) })); n != 2 {
			t.Errorf("%s: %d Events %q, want one on the budget and one on the owner, in %q", when, n, want, got)
		}
	}
	expect("one eviction is left", "Normal AllReady budget theirs: minAvailable=1 -> minAvailable=5")
	setReady(s, "events-0", corev1.ConditionFalse)
	setReady(s, "events-1", corev1.ConditionFalse)
	expect("none is left", "Warning QuorumAtRisk budget theirs: minAvailable=5 -> minAvailable=6")
	setReady(s, "events-0", corev1.ConditionTrue)
	setReady(s, "events-1", corev1.ConditionTrue)
	s.reconcile()
	s.advance(time.Minute)
	expect("all are ready again", "Normal AllReady budget theirs: minAvailable=6 -> minAvailable=5")

	one := plain(t, "{disruption: {createMissing: true}}")
	removeBudget(one, "etcd")
	foreign(one, "theirs", "minAvailable: 0, selector: {"+byPod+"}")
	s = one
	s.reconcile()
	controllertest.Recorded(t, s.events)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	expect("the one member that it selects stays", "Warning MemberDown budget theirs: minAvailable=0 -> minAvailable=1")
	setReady(s, "etcd-1", corev1.ConditionTrue)
	s.reconcile()
	s.advance(time.Minute)
	expect("its author's value is restored", "Normal AllReady budget theirs: minAvailable=1 -> minAvailable=0")
}

// TestEventOfMemberDown checks that there is one warning when a drain begins to wait because a member is down, also if the
// number stays.
func TestEventOfMemberDown(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	controllertest.Recorded(t, s.events)
	for range 3 {
		setReady(s, "etcd-0", corev1.ConditionFalse)
		s.expect("etcd-quorum minAvailable=2 MemberDown")
		got := strings.Join(controllertest.Recorded(t, s.events), "\n")
		if strings.Count(got, "Warning MemberDown budget etcd-quorum stays at minAvailable=2: ") != 2 {
			t.Errorf("recorded %q, want one warning on the budget and one on the owner", got)
		}
		setReady(s, "etcd-0", corev1.ConditionTrue)
		s.expect("etcd-quorum minAvailable=2 AllReady")
		if got := controllertest.Recorded(t, s.events); len(got) > 0 {
			t.Errorf("recorded %q of a member that is back", got)
		}
		s.advance(time.Minute)
	}
}
