// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// synced turns true once the manager's caches are: the manager starts it after
// them. It runs on every replica, not only on the leader. Afterwards watches say
// whether they stay so.
type synced struct {
	yes     atomic.Bool
	watches *watches
}

// Start implements manager.Runnable.
func (s *synced) Start(context.Context) error {
	s.yes.Store(true)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *synced) NeedLeaderElection() bool { return false }

func (s *synced) check(*http.Request) error {
	if err := s.watches.check(); err != nil {
		return err
	}
	if !s.yes.Load() {
		return errors.New("caches are not synced yet")
	}
	return nil
}

// probe makes a replica ready when it can answer a review: its caches are
// in sync and the webhook server listens with its certificate.
func probe(mgr ctrl.Manager, w *watches) error {
	s := &synced{watches: w}
	if err := mgr.Add(s); err != nil {
		return fmt.Errorf("set up the probes: %w", err)
	}
	return errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", s.check),
		mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()),
	)
}
