// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// stage is a cluster with its controller and a fake clock.
type stage struct {
	*controllertest.Store
	t      *testing.T
	clock  *clocktesting.FakePassiveClock
	leases *leaseclock.Clock
	budget *Reconciler
	events *events.FakeRecorder
	key    owner.Key
	// template is what scale makes pods from.
	template *corev1.Pod
}

// plain returns a StatefulSet of three members, all Ready, that has a budget with
// maxUnavailable 1.
func plain(t *testing.T, policy string) *stage {
	t.Helper()
	return newStage(t, "plain-3", owner.Key{Kind: "StatefulSet", Namespace: "store", Name: "etcd"}, policy)
}

// plainCreated returns the cluster of plain with a budget that the controller created, instead
// of its own.
func plainCreated(t *testing.T) *stage {
	t.Helper()
	s := plain(t, "{disruption: {createMissing: true}}")
	removeBudget(s, "etcd")
	s.expect("etcd-quorum minAvailable=2 AllReady")
	return s
}

// druid returns an Etcd of three healthy members that has a budget with minAvailable 2.
func druid(t *testing.T, policy string) *stage {
	t.Helper()
	return newStage(t, "druid-3", owner.Key{Kind: "Etcd", Namespace: "shoot", Name: "main"}, policy)
}

func newStage(t *testing.T, objects string, key owner.Key, policy string) *stage {
	t.Helper()
	all := controllertest.Cluster(t, objects, key.Namespace, policy)
	s := &stage{t: t, Store: &controllertest.Store{Objects: all}, clock: clocktesting.NewFakePassiveClock(controllertest.Now), key: key}
	s.leases = &leaseclock.Clock{Clock: s.clock}
	s.restart()
	return s
}

// restart replaces the controller by a new one without memory. Only the leases are kept.
func (s *stage) restart() {
	s.events = events.NewFakeRecorder(100)
	s.budget = &Reconciler{
		Client: s.Store, Recorder: s.events, Clock: s.clock, Findings: &Findings{},
		Reader: &observe.Reader{Reader: s.Cached(), Leases: s.leases},
	}
}

// reconcile reconciles once and returns the number of writes.
func (s *stage) reconcile() (int, reconcile.Result) {
	s.t.Helper()
	before := s.Writes
	result, err := s.budget.Reconcile(s.t.Context(), s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Writes - before, result
}

// expect reconciles twice and checks that the second time nothing is written. It compares
// the budgets with want: each is "name field=number reason".
func (s *stage) expect(want ...string) {
	s.t.Helper()
	s.reconcile()
	if rewrote, _ := s.reconcile(); rewrote != 0 {
		s.t.Errorf("wrote %d times although nothing had changed", rewrote)
	}
	if got := s.budgets(); !slices.Equal(got, want) {
		s.t.Errorf("budgets are %q, want %q", got, want)
	}
}

func (s *stage) budgets() []string { return s.Budgets(s.clock.Now()) }

// change edits the object of a kind and name in memory.
func change[T client.Object](s *stage, name string, edit func(T)) {
	s.t.Helper()
	edit(find[T](s, name))
}

// find returns the object of a kind and name.
func find[T client.Object](s *stage, name string) T {
	s.t.Helper()
	return controllertest.Find[T](s.t, s.Objects, name)
}

// advance moves the clock forward.
func (s *stage) advance(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }
