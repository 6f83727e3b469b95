// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

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
