// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// values returns a collector's series as "label value …" with their values.
func values(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	to := make(chan prometheus.Metric, 1000)
	c.Collect(to)
	close(to)
	out := map[string]float64{}
	for m := range to {
		var series dto.Metric
		if err := m.Write(&series); err != nil {
			t.Fatal(err)
		}
		labels := ""
		for _, l := range series.GetLabel() {
			labels += l.GetName() + "=" + l.GetValue() + " "
		}
		out[labels] = series.GetGauge().GetValue() + series.GetCounter().GetValue()
	}
	return out
}

// budgetValues returns the three gauges of one cluster's budget.
func budgetValues(t *testing.T, key owner.Key) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for name, gauge := range map[string]*prometheus.GaugeVec{"min": minAvailable, "left": evictionsLeft, "unprotected": unprotected} {
		partial, err := gauge.CurryWith(prometheus.Labels{"namespace": key.Namespace, "cluster": key.Name})
		if err != nil {
			t.Fatal(err)
		}
		for labels, value := range values(t, partial) {
			var cluster, namespace, reason string
			if n, _ := fmt.Sscanf(labels, "cluster=%s namespace=%s reason=%s", &cluster, &namespace, &reason); n < 2 || cluster != key.Name || namespace != key.Namespace {
				continue
			}
			out[name+" "+reason] = value
		}
	}
	return out
}

// TestBudgetMetrics checks the series of a cluster through the states of its budget. A new
// state replaces the series of the previous one. It isn't parallel, because the process has
// one set of series.
func TestBudgetMetrics(t *testing.T) {
	s := plain(t, "{disruption: {settle: 1s}}")
	t.Cleanup(func() { s.budget.removeState(s.key) })
	expect := func(when string, want map[string]float64) {
		t.Helper()
		s.reconcile()
		if diff := cmp.Diff(want, budgetValues(t, s.key)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	expect("all members are ready", map[string]float64{"min AllReady": 2, "left ": 1})
	change(s, "etcd-1", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	expect("one member isn't ready", map[string]float64{"min MemberDown": 2, "left ": 0})
	budget := removeBudget(s, "etcd")
	expect("there is no budget", map[string]float64{"unprotected NoBudget": 1})
	s.Put(budget)
	expect("there is a budget again", map[string]float64{"min MemberDown": 2, "left ": 0})
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
	expect("no policy keeps the budget", map[string]float64{"unprotected PolicyOff": 1})
	s.advance(2 * time.Second)
	expect("it is released", map[string]float64{"unprotected PolicyOff": 1})
}

// TestBudgetSeriesAreIndependent checks that the series of one cluster don't change those of
// another one.
func TestBudgetSeriesAreIndependent(t *testing.T) {
	one, two := owner.Key{Namespace: "metrics", Name: "one"}, owner.Key{Namespace: "metrics", Name: "two"}
	series.setKept(one, policy.AllReady, 2, 1)
	series.setUnprotected(two, reasons.NoBudget)
	series.setKept(one, budget.QuorumAtRisk, 3, 0)
	if diff := cmp.Diff(map[string]float64{"min QuorumAtRisk": 3, "left ": 0}, budgetValues(t, one)); diff != "" {
		t.Errorf("one (-want +got):\n%s", diff)
	}
	series.remove(one)
	if diff := cmp.Diff(map[string]float64{}, budgetValues(t, one)); diff != "" {
		t.Errorf("one after its removal (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"unprotected NoBudget": 1}, budgetValues(t, two)); diff != "" {
		t.Errorf("two (-want +got):\n%s", diff)
	}
	series.remove(two)
}

// TestBudgetWriteResults checks under which result each write is counted, and that a reset by
// another client is counted. It isn't parallel, because the counters are the process's.
func TestBudgetWriteResults(t *testing.T) {
	budgets := policyv1.Resource("poddisruptionbudgets")
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"accepted", nil, resultWritten},
		{"another version", apierrors.NewConflict(budgets, "etcd", errors.New("changed")), resultConflict},
		{"deleted", apierrors.NewNotFound(budgets, "etcd"), resultConflict},
		{"denied by admission", apierrors.NewForbidden(budgets, "etcd", errors.New("no")), resultDenied},
		{"a fault of the API server", apierrors.NewInternalError(errors.New("etcd")), resultFailed},
		{"no answer", io.ErrUnexpectedEOF, resultFailed},
	} {
		s := plain(t, "{}")
		s.Refuse = row.err
		before := values(t, writes)
		_, _ = s.budget.Reconcile(t.Context(), s.key)
		for labels, n := range values(t, writes) {
			want := 0.0
			if labels == "result="+row.want+" " {
				want = 1
			}
			if n-before[labels] != want {
				t.Errorf("%s: %scounted %v times, want %v", row.name, labels, n-before[labels], want)
			}
		}
		s.budget.removeState(s.key)
	}

	s := plain(t, "{}")
	s.reconcile()
	before := values(t, undone)[""]
	change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(2)) })
	s.reconcile()
	if n := values(t, undone)[""] - before; n != 1 {
		t.Errorf("a reset was counted %v times", n)
	}
	s.budget.removeState(s.key)
}
