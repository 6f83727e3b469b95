// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// TestBackoff checks what an outage of the API server means for a budget: a short one
// delays nothing, a long one at most 15 seconds after its end, and the next outage starts
// again with short waits.
func TestBackoff(t *testing.T) {
	t.Parallel()
	limiter := backoff[string]()
	fail := func(outage time.Duration) (retries int, wait time.Duration) {
		for elapsed := time.Duration(0); elapsed <= outage; elapsed += wait {
			wait = limiter.When("budget")
			retries++
		}
		return retries, wait
	}
	if retries, wait := fail(time.Second); retries < 5 || wait > 2*time.Second {
		t.Errorf("an outage of a second: %d retries, the last after %s", retries, wait)
	}
	if _, wait := fail(8 * time.Hour); wait > 15*time.Second {
		t.Errorf("an outage of 8 hours: retried %s after its end", wait)
	}
	if wait := limiter.When("another budget"); wait > 100*time.Millisecond {
		t.Errorf("another budget waits %s", wait)
	}
	limiter.Forget("budget")
	if wait := limiter.When("budget"); wait > 100*time.Millisecond {
		t.Errorf("the first retry of the next outage waits %s", wait)
	}
}

// TestAnswered checks which errors are answers of the API server.
func TestAnswered(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		err  error
		want bool
	}{
		{"denied", fmt.Errorf("patch: %w", apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("no"))), true},
		{"a fault of the API server", apierrors.NewInternalError(errors.New("etcd")), true},
		{"the connection ended", fmt.Errorf("patch: %w", io.ErrUnexpectedEOF), false},
		{"timed out", context.DeadlineExceeded, false},
	} {
		if got := answered(row.err); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

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
			s.refuse = err
			if _, result := s.reconcile(); result.RequeueAfter != 5*time.Second {
				t.Errorf("retried after %s", result.RequeueAfter)
			}
			if got := strings.Join(recorded(t, s.events), "\n"); !strings.Contains(got, reasons.BudgetWriteDenied.Name()) || !strings.Contains(got, err.Error()) {
				t.Errorf("recorded %q", got)
			}
			if f, _ := s.budget.Findings.get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.BudgetWriteDenied.Name() {
				t.Errorf("found %+v", f)
			}
			s.refuse = nil
			s.expect("etcd maxUnavailable=1 AllReady")
		})
	}
}

// TestBudgetWithoutAnswer checks that an error without an answer is returned to the queue,
// which retries it.
func TestBudgetWithoutAnswer(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.refuse = io.ErrUnexpectedEOF
	if _, err := s.budget.Reconcile(t.Context(), s.key); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("returned %v", err)
	}
	if got := recorded(t, s.events); len(got) > 0 {
		t.Errorf("recorded %q", got)
	}
}

// TestSetup checks that the managers accept what the controllers request. There is no API
// server, and none is used before a manager is started.
func TestSetup(t *testing.T) {
	t.Parallel()
	mgr, err := ctrl.NewManager(&rest.Config{Host: "127.0.0.1:1"}, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakePassiveClock(stageNow)
	reader := &observe.Reader{Leases: &leaseclock.Clock{Clock: clock}}
	for _, c := range []interface{ SetupWithManager(ctrl.Manager) error }{
		&Budget{Reader: reader}, &TopologyPolicy{Reader: reader, Findings: &Findings{}}, &TrafficCut{Reader: reader, Clock: clock}, &Unschedulable{Reader: reader},
	} {
		if err := c.SetupWithManager(mgr); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
}
