// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// TestBudgetCannotBeWritten checks that errors of the API server are announced as denials
// are, and retried as soon.
func TestBudgetCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"another webhook is unavailable": apierrors.NewInternalError(errors.New("failed calling webhook")),
		"the API server is overloaded":   apierrors.NewTooManyRequestsError("later"),
		"its store is slow":              apierrors.NewTimeoutError("request timed out", 0),
		"it is shutting down":            apierrors.NewServiceUnavailable("shutting down"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{}")
			s.Refuse = err
			if _, result := s.reconcile(); result.RequeueAfter != 5*time.Second {
				t.Errorf("retried after %s", result.RequeueAfter)
			}
			if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, reasons.BudgetWriteDenied.Name()) || !strings.Contains(got, err.Error()) {
				t.Errorf("recorded %q", got)
			}
			if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.BudgetWriteDenied.Name() {
				t.Errorf("found %+v", f)
			}
			s.Refuse = nil
			s.expect("etcd maxUnavailable=1 AllReady")
		})
	}
}

// TestBudgetWithoutAnswer checks that an error without an answer is returned to the queue,
// which retries it.
func TestBudgetWithoutAnswer(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.Refuse = io.ErrUnexpectedEOF
	if _, err := s.budget.Reconcile(t.Context(), s.key); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("returned %v", err)
	}
	if got := controllertest.Recorded(t, s.events); len(got) > 0 {
		t.Errorf("recorded %q", got)
	}
}

// TestRefusedWriteStopsNoOther checks that a budget whose writes are refused stops neither the creation of the
// budget that protects the cluster nor what makes others stricter, also while no policy keeps them.
func TestRefusedWriteStopsNoOther(t *testing.T) {
	t.Parallel()
	strays := func(s *stage) {
		foreign(s, "denied", "minAvailable: 0, selector: {"+byApp+"}")
		s.expect("denied minAvailable=2 AllReady")
		s.DenyPatchesOf = "denied"
		change(s, "denied", func(p *policyv1.PodDisruptionBudget) { p.Spec.Selector.MatchLabels = map[string]string{"app": "web"} })
	}
	for _, row := range []struct {
		name   string
		change func(*stage)
		want   []string
	}{
		{"one that strayed, and none is left", strays, []string{"denied minAvailable=2 AllReady", "etcd-quorum minAvailable=2 AllReady"}},
		{"one that strayed, and no policy keeps the other", func(s *stage) {
			strays(s)
			s.reconcile()
			tie(s)
			setReady(s, "etcd-0", corev1.ConditionFalse)
			setReady(s, "etcd-1", corev1.ConditionFalse)
		}, []string{"denied minAvailable=2 AllReady", "etcd-quorum minAvailable=3 QuorumAtRisk"}},
		{"one over some members, before another one", func(s *stage) {
			foreign(s, "denied", "minAvailable: 0, selector: {"+byPod+"}")
			foreign(s, "theirs", "minAvailable: 0, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}")
			s.DenyPatchesOf = "denied"
			setReady(s, "etcd-2", corev1.ConditionFalse)
		}, []string{"denied minAvailable=0 -", "theirs minAvailable=1 MemberDown"}},
		{"one over some members, and ours must go", func(s *stage) {
			s.expect("etcd-quorum minAvailable=2 AllReady")
			foreign(s, "denied", "minAvailable: 0, selector: {"+byPod+"}")
			foreign(s, "theirs", "minAvailable: 0, selector: {"+byApp+"}")
			s.DenyPatchesOf = "denied"
			setReady(s, "etcd-2", corev1.ConditionFalse)
		}, []string{"denied minAvailable=0 -", "theirs minAvailable=2 MemberDown"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {createMissing: true}}")
			removeBudget(s, "etcd")
			row.change(s)
			s.reconcile()
			s.reconcile()
			if got := s.budgets(); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
