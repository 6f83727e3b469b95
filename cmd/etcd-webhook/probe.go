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

// cacheSync reports whether the manager's caches are in sync. The manager starts it after
// they are synced for the first time; from then on watches decides. It runs on every replica,
// not only on the leader.
type cacheSync struct {
	done    atomic.Bool
	watches *watchHealth
}

// Start implements manager.Runnable.
func (s *cacheSync) Start(context.Context) error {
	s.done.Store(true)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *cacheSync) NeedLeaderElection() bool { return false }

func (s *cacheSync) check(*http.Request) error {
	if err := s.watches.check(); err != nil {
		return err
	}
	if !s.done.Load() {
		return errors.New("caches are not synced yet")
	}
	return nil
}

// addProbes adds the probes. A replica is ready when it can answer a review: its caches are in
// sync and the webhook server listens with its certificate.
func addProbes(mgr ctrl.Manager, w *watchHealth) error {
	s := &cacheSync{watches: w}
	if err := mgr.Add(s); err != nil {
		return fmt.Errorf("set up the probes: %w", err)
	}
	return errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", s.check),
		mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()),
	)
}
