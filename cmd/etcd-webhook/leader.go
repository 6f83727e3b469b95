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
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubectl-etcd/kubectl-etcd/controller"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// addLeader has the controllers run while this replica leads and wasn't told to end, as a
// part of the manager that answers reviews.
func addLeader(told context.Context, answers ctrl.Manager, o options, reader *observe.Reader) error {
	leader, err := newLeader(answers, o)
	if err != nil {
		return fmt.Errorf("set up the leader's manager: %w", err)
	}
	if err := control(leader, reader); err != nil {
		return err
	}
	lost := &leaseLost{}
	if err := errors.Join(answers.Add(lead(told, leader, lost)), answers.AddReadyzCheck("lease", lost.check)); err != nil {
		return fmt.Errorf("set up the lead: %w", err)
	}
	return nil
}

// newLeader is the manager that runs the controllers while this replica leads, over the
// caches of the one that answers reviews. They are two, because a manager gives its lease
// back after it has stopped all else, and reviews are answered for longer than that.
func newLeader(answers ctrl.Manager, o options) (ctrl.Manager, error) {
	return ctrl.NewManager(answers.GetConfig(), ctrl.Options{
		Scheme: answers.GetScheme(),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return answers.GetRESTMapper(), nil
		},
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return started{answers.GetCache()}, nil
		},
		NewClient: func(*rest.Config, client.Options) (client.Client, error) {
			return answers.GetClient(), nil
		},
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // the other one serves them
		LeaderElection:                true,
		LeaderElectionID:              "etcd-webhook.kubectl-etcd.dev",
		LeaderElectionNamespace:       o.electIn,
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		RetryPeriod:                   new(retryPeriod),
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(shutdownLimit),
	})
}

// started is a cache that somebody else starts.
type started struct{ cache.Cache }

// Start implements cache.Informers.
func (started) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// lead runs the leader's manager as a part of another: until that stops, or this program
// is told to. That it has lost its lease is its error, and ends them both, but the answers
// only after as long as if it had been told to: API servers have to hear of it as well.
func lead(told context.Context, leader manager.Runnable, lost *leaseLost) manager.RunnableFunc {
	return func(ctx context.Context) error {
		leading, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(told, cancel)()
		err := leader.Start(leading)
		if err == nil {
			return nil
		}
		lost.yes.Store(true)
		select {
		case <-ctx.Done():
		case <-time.After(answersOn):
		}
		return fmt.Errorf("%w: %w", errLost, err)
	}
}

// errLost is why the program begins anew.
var errLost = errors.New("this replica leads no more")

// leaseLost keeps a replica from being ready that ends because it has lost its lease.
type leaseLost struct{ yes atomic.Bool }

func (l *leaseLost) check(*http.Request) error {
	if l.yes.Load() {
		return errors.New("the leader's lease is lost: the program is about to begin anew")
	}
	return nil
}

// control adds the controllers, which run on the leader.
func control(mgr ctrl.Manager, reader *observe.Reader) error {
	recorder, findings := mgr.GetEventRecorder("etcd-webhook"), &controller.Findings{}
	for name, c := range map[string]interface{ SetupWithManager(ctrl.Manager) error }{
		"budget": &controller.Budget{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder,
			Clock: clock.RealClock{}, Findings: findings,
		},
		"topology policy": &controller.TopologyPolicy{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder,
			Clock: clock.RealClock{}, Findings: findings,
		},
		"traffic cut": &controller.TrafficCut{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder, Clock: clock.RealClock{},
		},
		"unschedulable member": &controller.Unschedulable{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder, Clock: clock.RealClock{},
		},
	} {
		if err := c.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("set up the %s controller: %w", name, err)
		}
	}
	return nil
}
