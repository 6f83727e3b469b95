// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

func TestPausesAreBounded(t *testing.T) {
	t.Parallel()
	limiter := pauses[int]()
	var last time.Duration
	for range 100 {
		last = limiter.When(0)
	}
	if last > 15*time.Second {
		t.Errorf("after many failures the next try is after %s", last)
	}
}

// TestBudgetCannotBeWritten: what no guard says is told as well, and not tried ever more
// seldom.
func TestBudgetCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"another's webhook is away":    apierrors.NewInternalError(errors.New("failed calling webhook")),
		"the API server is overloaded": apierrors.NewTooManyRequestsError("later"),
		"its store is slow":            apierrors.NewTimeoutError("request timed out", 0),
		"it is going":                  apierrors.NewServiceUnavailable("shutting down"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{}")
			s.refuse = err
			if _, result := s.look(); result.RequeueAfter != 5*time.Second {
				t.Errorf("tried again after %s", result.RequeueAfter)
			}
			if told := strings.Join(heard(s.said), "\n"); !strings.Contains(told, reasonWriteDenied) || !strings.Contains(told, err.Error()) {
				t.Errorf("said %q", told)
			}
			if f, _ := s.budget.Findings.Of(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasonWriteDenied {
				t.Errorf("found %+v", f)
			}
			s.refuse = nil
			s.wants("etcd maxUnavailable=1 AllReady")
		})
	}
}

// TestSetup: nothing that a controller asks of a manager contradicts itself. No API
// server is there, and none is asked before the manager is started.
func TestSetup(t *testing.T) {
	t.Parallel()
	mgr, err := ctrl.NewManager(&rest.Config{Host: "127.0.0.1:1"}, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakePassiveClock(stageNow)
	reader := &observe.Reader{Leases: &observe.LeaseClock{Clock: clock}}
	for _, c := range []interface{ SetupWithManager(ctrl.Manager) error }{
		&Budget{Reader: reader}, &TopologyPolicy{Reader: reader}, &TrafficCut{Reader: reader, Clock: clock}, &Unschedulable{Reader: reader},
	} {
		if err := c.SetupWithManager(mgr); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
}
