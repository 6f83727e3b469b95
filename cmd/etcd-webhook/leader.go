// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubectl-etcd/kubectl-etcd/controller"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// addLeader adds the controllers to the manager that answers reviews. They run while this
// replica leads, until stop ends.
func addLeader(stop context.Context, reviews ctrl.Manager, o options, reader *observe.Reader) error {
	leader, err := newLeader(reviews, o)
	if err != nil {
		return fmt.Errorf("set up the leader's manager: %w", err)
	}
	if err := controller.Setup(leader, reader); err != nil {
		return err
	}
	lost := &leaseLost{}
	if err := errors.Join(reviews.Add(lead(stop, leader, lost)), reviews.AddReadyzCheck("lease", lost.check)); err != nil {
		return fmt.Errorf("set up the leader: %w", err)
	}
	return nil
}

// newLeader returns the manager that runs the controllers while this replica leads. It uses
// the caches of the manager that answers reviews. There are two managers, because a manager
// releases its lease after it has stopped everything else, and reviews must be answered for
// longer.
func newLeader(reviews ctrl.Manager, o options) (ctrl.Manager, error) {
	return ctrl.NewManager(reviews.GetConfig(), ctrl.Options{
		Scheme: reviews.GetScheme(),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return reviews.GetRESTMapper(), nil
		},
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return sharedCache{reviews.GetCache()}, nil
		},
		NewClient: func(*rest.Config, client.Options) (client.Client, error) {
			return reviews.GetClient(), nil
		},
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // the other manager serves them
		LeaderElection:                true,
		LeaderElectionID:              "etcd-webhook.kubectl-etcd.dev",
		LeaderElectionNamespace:       o.leaseNamespace,
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		RetryPeriod:                   new(retryPeriod),
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(shutdownLimit),
	})
}

// sharedCache is a cache that another manager starts.
type sharedCache struct{ cache.Cache }

// Start implements cache.Informers.
func (sharedCache) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// lead returns a Runnable that runs the leader's manager until the other manager stops or stop
// ends. If the lease is lost, it returns errLeaseLost, which ends both managers. It does so
// after reviewGrace, as after a signal: API servers need the same time to use another replica.
func lead(stop context.Context, leader manager.Runnable, lost *leaseLost) manager.RunnableFunc {
	return func(ctx context.Context) error {
		leading, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		err := leader.Start(leading)
		if err == nil {
			return nil
		}
		lost.lost.Store(true)
		select {
		case <-ctx.Done():
		case <-time.After(reviewGrace):
		}
		return fmt.Errorf("%w: %w", errLeaseLost, err)
	}
}

// errLeaseLost makes the program restart.
var errLeaseLost = errors.New("this replica has lost the leader's lease")

// leaseLost is a readiness check that fails before a replica restarts because it has lost its
// lease.
type leaseLost struct{ lost atomic.Bool }

func (l *leaseLost) check(*http.Request) error {
	if l.lost.Load() {
		return errors.New("the leader's lease is lost; the program is about to restart")
	}
	return nil
}
