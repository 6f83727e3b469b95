// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

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
