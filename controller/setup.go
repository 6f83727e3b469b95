// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memberhealth"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/controller/restart"
	"github.com/kubectl-etcd/kubectl-etcd/controller/rollout"
	"github.com/kubectl-etcd/kubectl-etcd/controller/topology"
	"github.com/kubectl-etcd/kubectl-etcd/controller/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/controller/unschedulable"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// EtcdPollInterval is how often to check whether etcd-druid has been installed.
const EtcdPollInterval = watch.PollInterval

// Setup adds all reconcilers to the leader's manager.
func Setup(mgr ctrl.Manager, reader *observe.Reader) error {
	recorder, findings := mgr.GetEventRecorder("etcd-webhook"), &budget.Findings{}
	asker := &memberhealth.Asker{Live: reader.Uncached(), Clock: clock.RealClock{}}
	budgets, err := newBudgetClient(mgr)
	if err != nil {
		return err
	}
	asking := reader.Asking(budget.Asking(asker, reader))
	for name, r := range map[string]interface{ SetupWithManager(ctrl.Manager) error }{
		"budget": &budget.Reconciler{
			Client: budgets, Reader: reader, Recorder: recorder,
			Clock: clock.RealClock{}, Findings: findings,
			Health: asker,
		},
		"topology policy": &topology.Reconciler{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder,
			Clock: clock.RealClock{}, Findings: findings,
		},
		"traffic cut": &traffic.Reconciler{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder, Clock: clock.RealClock{},
		},
		"rollout": &rollout.Reconciler{
			Client: mgr.GetClient(), Reader: asking, Recorder: recorder, Clock: clock.RealClock{},
		},
		"restart": &restart.Reconciler{
			Client: mgr.GetClient(), Reader: asking, Recorder: recorder, Clock: clock.RealClock{},
		},
		"unschedulable member": &unschedulable.Reconciler{
			Client: mgr.GetClient(), Reader: reader, Recorder: recorder, Clock: clock.RealClock{},
		},
	} {
		if err := r.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("set up the %s controller: %w", name, err)
		}
	}
	return nil
}

// Collectors returns the metrics of all reconcilers. Only the leader has series of clusters and
// policies.
func Collectors() []prometheus.Collector {
	return slices.Concat(budget.Collectors(), rollout.Collectors(), topology.Collectors(), traffic.Collectors())
}
