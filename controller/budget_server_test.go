// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// shelf holds objects that can be written by the three verbs that the budget
// controller uses, with the API server's preconditions. It is no proof that a
// real one takes them; the tests on the testbed are.
type shelf struct {
	observetest.Objects
	writes  int
	version int
	// refuse is what every write is answered with, nil to take it.
	refuse error
}

func (s *shelf) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	if s.refuse != nil {
		return s.refuse
	}
	if slices.ContainsFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(*policyv1.PodDisruptionBudget)
		return is && o.GetName() == obj.GetName()
	}) {
		return apierrors.NewAlreadyExists(policyv1.Resource("poddisruptionbudgets"), obj.GetName())
	}
	obj.SetUID("made")
	s.put(obj)
	return nil
}

func (s *shelf) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	if s.refuse != nil {
		return s.refuse
	}
	s.writes++
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == obj.GetUID() })
	return nil
}

func (s *shelf) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	if s.refuse != nil {
		return s.refuse
	}
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	var old policyv1.PodDisruptionBudget
	if err := s.Get(context.Background(), client.ObjectKeyFromObject(obj), &old); err != nil {
		return err
	}
	var asked policyv1.PodDisruptionBudget
	if err := json.Unmarshal(body, &asked); err != nil {
		return err
	}
	if asked.UID != old.UID || asked.ResourceVersion != "" && asked.ResourceVersion != old.ResourceVersion {
		return apierrors.NewConflict(policyv1.Resource("poddisruptionbudgets"), obj.GetName(), errors.New("changed"))
	}
	text, err := json.Marshal(old)
	if err != nil {
		return err
	}
	if text, err = jsonpatch.MergePatch(text, body); err != nil {
		return err
	}
	var out policyv1.PodDisruptionBudget
	if err := json.Unmarshal(text, &out); err != nil {
		return err
	}
	s.put(&out)
	return nil
}

// put stores an object as a new version.
func (s *shelf) put(obj client.Object) {
	s.version++
	s.writes++
	obj.SetResourceVersion("v" + strconv.Itoa(s.version))
	s.Objects = append(slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == obj.GetUID() }), obj)
}

// stage is a cluster, its controller, and a clock.
type stage struct {
	*shelf
	t      *testing.T
	clock  *clocktesting.FakePassiveClock
	leases *observe.LeaseClock
	budget *Budget
	said   *events.FakeRecorder
	key    observe.OwnerKey
}

// stageNow is when the objects of internal/observe's tests were read.
var stageNow = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// plain is a StatefulSet of three members, all Ready, that has a budget of
// maxUnavailable 1; druid an Etcd of three, all well, with minAvailable 2.
func plain(t *testing.T, policy string) *stage {
	t.Helper()
	return newStage(t, "plain-3", observe.OwnerKey{Kind: "StatefulSet", Namespace: "store", Name: "etcd"}, policy)
}

func druid(t *testing.T, policy string) *stage {
	t.Helper()
	return newStage(t, "druid-3", observe.OwnerKey{Kind: "Etcd", Namespace: "shoot", Name: "main"}, policy)
}

func newStage(t *testing.T, objects string, key observe.OwnerKey, policy string) *stage {
	t.Helper()
	text, err := os.ReadFile("../internal/observe/testdata/facts/" + objects + ".objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := parse(t, string(text))
	all = append(all, parse(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", key.Namespace))...)
	if policy != "" {
		all = append(all, parse(t, "{apiVersion: policy.kubectl-etcd.dev/v1alpha1, kind: EtcdTopologyPolicy, metadata: {name: default, uid: policy}, spec: "+policy+"}")...)
	}
	for _, o := range all {
		// The API server fills in the default.
		if p, ok := o.(*v1alpha1.EtcdTopologyPolicy); ok && p.Spec.Mode == "" {
			p.Spec.Mode = v1alpha1.ModeEnforce
		}
	}
	s := &stage{t: t, shelf: &shelf{Objects: all}, clock: clocktesting.NewFakePassiveClock(stageNow), key: key}
	s.leases = &observe.LeaseClock{Clock: s.clock}
	s.restart()
	return s
}

// restart is a new process, which knows nothing but what its leases say.
func (s *stage) restart() {
	s.said = events.NewFakeRecorder(100)
	s.budget = &Budget{
		Client: s.shelf, Recorder: s.said, Clock: s.clock, Findings: &Findings{},
		Reader: &observe.Reader{Reader: s.shelf, Leases: s.leases},
	}
}

// look reconciles once and returns the number of writes.
func (s *stage) look() (int, reconcile.Result) {
	s.t.Helper()
	before := s.writes
	result, err := s.budget.Reconcile(s.t.Context(), s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.writes - before, result
}

// wants reconciles twice: the second time nothing may be written. It compares
// the budgets with what is wanted, as name field=number reason.
func (s *stage) wants(want ...string) {
	s.t.Helper()
	s.look()
	if again, _ := s.look(); again != 0 {
		s.t.Errorf("wrote %d times although nothing had changed", again)
	}
	if got := s.budgets(); !slices.Equal(got, want) {
		s.t.Errorf("budgets are %q, want %q", got, want)
	}
}

func (s *stage) budgets() []string {
	var out []string
	for _, o := range s.Objects {
		pdb, ok := o.(*policyv1.PodDisruptionBudget)
		if !ok {
			continue
		}
		says := "?"
		if v, problem := observe.ValueOf(pdb.Name, &pdb.Spec); problem == nil {
			says = v.String()
		}
		reason := observe.DecodeBudgetRecord(pdb.Annotations, s.clock.Now()).Reason
		if reason == "" {
			reason = "-"
		}
		out = append(out, pdb.Name+" "+says+" "+reason)
	}
	slices.Sort(out)
	return out
}

// change edits the object of a kind and name in place.
func change[T client.Object](s *stage, name string, edit func(T)) {
	s.t.Helper()
	for _, o := range s.Objects {
		if typed, ok := o.(T); ok && o.GetName() == name {
			edit(typed)
			return
		}
	}
	s.t.Fatalf("there is no %s", name)
}

// later moves the clock on.
func (s *stage) later(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }
