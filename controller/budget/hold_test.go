// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// setReady sets a member's pod Ready or not.
func setReady(s *stage, pod string, status corev1.ConditionStatus) {
	change(s, pod, func(p *corev1.Pod) { p.Status.Conditions[0].Status = status })
}

// tie adds a policy of the same priority as the stage's.
func tie(s *stage) {
	s.Put(&v1alpha1.EtcdTopologyPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "another", UID: "another"},
		Spec:       v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeWarn},
	})
}

// TestTieHoldsBudgets checks that a second policy of the same priority releases nothing:
// budgets stay, become stricter, and never looser, for as long as it lasts. It isn't
// parallel, because the process has one set of series.
func TestTieHoldsBudgets(t *testing.T) {
	s := plain(t, "{disruption: {createMissing: true, settle: 1s}}")
	t.Cleanup(func() { s.budget.removeState(s.key) })
	removeBudget(s, "etcd")
	s.expect("etcd-quorum minAvailable=2 AllReady")
	tie(s)
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=2 AllReady")
	if diff := cmp.Diff(map[string]float64{"unprotected PolicyConflict": 1}, budgetValues(t, s.key)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	setReady(s, "etcd-0", corev1.ConditionFalse)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.restart()
	s.expect("etcd-quorum minAvailable=3 QuorumAtRisk")
	setReady(s, "etcd-0", corev1.ConditionTrue)
	setReady(s, "etcd-1", corev1.ConditionTrue)
	s.reconcile()
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=3 QuorumAtRisk")

	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == "another" })
	s.reconcile()
	s.advance(2 * time.Second)
	s.expect("etcd-quorum minAvailable=2 AllReady")
}

// TestTieAdoptsNothing checks that a tie doesn't touch a budget that was not kept before.
func TestTieAdoptsNothing(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {createMissing: true}}")
	tie(s)
	s.expect("etcd maxUnavailable=1 -")
	removeBudget(s, "etcd")
	s.expect()
}

// TestReleaseIsHeld checks each way in which a cluster loses its policy: its budget stays
// for the settle time, only becomes stricter, and then goes with an Event on the budget and
// on the owner. The cluster counts as unprotected from the moment on.
func TestReleaseIsHeld(t *testing.T) {
	for _, row := range []struct {
		reason policy.Reason
		change func(*stage)
	}{
		{reasons.PolicyOff, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
		}},
		{reasons.PolicyWarns, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeWarn })
		}},
		{reasons.PolicyWarns, func(s *stage) {
			tie(s)
			change(s, "another", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Priority = 1 })
		}},
		{reasons.DisruptionDisabled, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Disruption.Enabled = new(false) })
		}},
		{reasons.OptedOut, func(s *stage) {
			change(s, "etcd", func(o *appsv1.StatefulSet) {
				o.Annotations = map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}
			})
		}},
		{reasons.SeparateEtcds, func(s *stage) {
			change(s, "etcd", func(o *appsv1.StatefulSet) {
				c := &o.Spec.Template.Spec.Containers[0]
				c.Command, c.Args, c.Env = []string{"etcd", "--name=m", "--initial-cluster=m=http://127.0.0.1:2380"}, nil, nil
			})
		}},
		{reasons.NoPolicy, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) {
				p.Spec.ClusterSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{"some": "other"}}
			})
		}},
		{reasons.NoPolicy, func(s *stage) {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == "policy" })
		}},
	} {
		t.Run(row.reason.Name(), func(t *testing.T) {
			s := plain(t, "{disruption: {createMissing: true}}")
			t.Cleanup(func() { s.budget.removeState(s.key) })
			removeBudget(s, "etcd")
			s.expect("etcd-quorum minAvailable=2 AllReady")
			controllertest.Recorded(t, s.events)
			row.change(s)
			_, result := s.reconcile()
			if result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
				t.Errorf("reconciles again after %s, want the end of the settle time", result.RequeueAfter)
			}
			unkept := map[string]float64{"unprotected " + row.reason.Name(): 1}
			if diff := cmp.Diff(unkept, budgetValues(t, s.key)); diff != "" {
				t.Errorf("series at once (-want +got):\n%s", diff)
			}
			if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); strings.Count(got, "Warning BudgetHeld") != 2 {
				t.Errorf("recorded %q, want BudgetHeld on the budget and on the owner", got)
			}
			s.advance(30 * time.Second)
			setReady(s, "etcd-0", corev1.ConditionFalse)
			setReady(s, "etcd-1", corev1.ConditionFalse)
			s.restart() // since when it is held is recorded on the budget
			s.expect("etcd-quorum minAvailable=3 QuorumAtRisk")
			controllertest.Recorded(t, s.events)
			s.advance(30 * time.Second)
			s.expect()
			if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); strings.Count(got, "Warning BudgetRemoved") != 2 {
				t.Errorf("recorded %q, want BudgetRemoved on the budget and on the owner", got)
			}
			if diff := cmp.Diff(unkept, budgetValues(t, s.key)); diff != "" {
				t.Errorf("series after the release (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplacedPolicyReleasesNothing checks that a policy that is deleted and created again
// finds the budget as it left it, and that the settle time begins again with the next one.
func TestReplacedPolicyReleasesNothing(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.expect("etcd maxUnavailable=1 AllReady")
	var gone client.Object
	remove := func() {
		s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
			if o.GetUID() == "policy" {
				gone = o
			}
			return o.GetUID() == "policy"
		})
	}
	for range 3 {
		remove()
		s.expect("etcd maxUnavailable=1 AllReady")
		s.advance(50 * time.Second)
		s.expect("etcd maxUnavailable=1 AllReady")
		s.Put(gone)
		s.expect("etcd maxUnavailable=1 AllReady")
	}
	remove()
	s.reconcile()
	s.advance(time.Minute)
	controllertest.Recorded(t, s.events)
	s.expect("etcd maxUnavailable=1 -")
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); strings.Count(got, "Warning BudgetReleased") != 2 {
		t.Errorf("recorded %q, want BudgetReleased on the budget and on the owner", got)
	}
}

// TestHoldBeginsAgain checks that a hold counts from its own beginning, although nothing else was written of the budget
// while a policy kept it in between.
func TestHoldBeginsAgain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		// before is what is the case before the first hold, and between while the policy is back.
		before, between func(*stage)
		want            string
	}{
		{"a new leader waits for answers", func(s *stage) {
			s.weakProbes()
			s.budget.Health = answers{"etcd-0": {Known: true}, "etcd-1": well, "etcd-2": well}
			s.expect("etcd-quorum minAvailable=3 MemberNotReady")
		}, func(s *stage) {
			s.restart()
			s.budget.Health = answers{"etcd-0": {Awaited: true}, "etcd-1": {Awaited: true}, "etcd-2": {Awaited: true}}
		}, "etcd-quorum minAvailable=3 MemberNotReady"},
		{"another client resets it again and again", func(s *stage) {
			for range maxConflicts {
				change(s, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) { p.Spec.MinAvailable = new(intstr.FromInt(1)) })
				s.expect("etcd-quorum minAvailable=2 AllReady")
			}
		}, func(*stage) {}, "etcd-quorum minAvailable=2 AllReady"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {createMissing: true, askMembers: true, settle: 60s}}")
			removeBudget(s, "etcd")
			s.reconcile()
			row.before(s)
			mode := func(mode v1alpha1.Mode, after time.Duration) {
				s.advance(after)
				change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = mode })
				s.reconcile()
				s.reconcile()
			}
			mode(v1alpha1.ModeOff, time.Second)
			row.between(s)
			mode(v1alpha1.ModeEnforce, 50*time.Second)
			mode(v1alpha1.ModeOff, 8*time.Second)
			s.advance(2 * time.Second)
			s.reconcile()
			if got := s.budgets(); !slices.Equal(got, []string{row.want}) {
				t.Errorf("two seconds after the second hold began: %q, want %q", got, row.want)
			}
		})
	}
}

// TestReleaseBesideForeign checks that ours is released, too, if a foreign budget comes while
// no policy keeps it, and that the foreign one is not touched.
func TestReleaseBesideForeign(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
	foreign(s, "theirs", "minAvailable: 0, selector: {"+byApp+"}")
	s.expect("etcd-quorum minAvailable=2 AllReady", "theirs minAvailable=0 -")
	s.advance(time.Minute)
	s.expect("theirs minAvailable=0 -")
}

// TestFindingsChange checks that another finding wakes the policies' controller.
func TestFindingsChange(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	woken := func() bool {
		select {
		case <-s.budget.Findings.Changed():
			return true
		default:
			return false
		}
	}
	for _, row := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"the first", func() {}, true},
		{"the same", func() {}, false},
		{"without a budget", func() { removeBudget(s, "etcd") }, true},
	} {
		row.change()
		s.reconcile()
		if got := woken(); got != row.want {
			t.Errorf("%s: woken %v", row.name, got)
		}
	}
}
