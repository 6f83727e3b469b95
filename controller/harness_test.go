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
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// objectStore is an API server in memory for the three verbs that the budget controller
// uses, with preconditions. Whether a real API server accepts the writes is tested on the
// testbed.
type objectStore struct {
	observetest.Objects
	writes  int
	version int
	// refuse is the error of every write; nil accepts writes.
	refuse error
	// denyPatches refuses patches as admission does, and accepts other writes.
	denyPatches bool
}

func (s *objectStore) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	if s.refuse != nil {
		return s.refuse
	}
	if slices.ContainsFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(*policyv1.PodDisruptionBudget)
		return is && o.GetName() == obj.GetName()
	}) {
		return apierrors.NewAlreadyExists(policyv1.Resource("poddisruptionbudgets"), obj.GetName())
	}
	obj.SetUID(types.UID("created " + obj.GetName()))
	s.put(obj)
	return nil
}

func (s *objectStore) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	if s.refuse != nil {
		return s.refuse
	}
	s.writes++
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == obj.GetUID() })
	return nil
}

func (s *objectStore) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	if s.refuse != nil {
		return s.refuse
	}
	if s.denyPatches {
		return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), obj.GetName(), errors.New("denied"))
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
func (s *objectStore) put(obj client.Object) {
	s.version++
	s.writes++
	obj.SetResourceVersion("v" + strconv.Itoa(s.version))
	s.Objects = append(slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == obj.GetUID() }), obj)
}

// stage is a cluster with its controller and a fake clock.
type stage struct {
	*objectStore
	t      *testing.T
	clock  *clocktesting.FakePassiveClock
	leases *leaseclock.Clock
	budget *Budget
	events *events.FakeRecorder
	key    owner.Key
	// template is what scale makes pods from.
	template *corev1.Pod
}

// stageNow is the time at which the objects of internal/observe's tests were read.
var stageNow = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

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
		// The API server sets the default.
		if p, ok := o.(*v1alpha1.EtcdTopologyPolicy); ok && p.Spec.Mode == "" {
			p.Spec.Mode = v1alpha1.ModeEnforce
		}
	}
	s := &stage{t: t, objectStore: &objectStore{Objects: all}, clock: clocktesting.NewFakePassiveClock(stageNow), key: key}
	s.leases = &leaseclock.Clock{Clock: s.clock}
	s.restart()
	return s
}

// restart replaces the controller by a new one without memory. Only the leases are kept.
func (s *stage) restart() {
	s.events = events.NewFakeRecorder(100)
	s.budget = &Budget{
		Client: s.objectStore, Recorder: s.events, Clock: s.clock, Findings: &Findings{},
		Reader: &observe.Reader{Reader: s.objectStore, Leases: s.leases},
	}
}

// reconcile reconciles once and returns the number of writes.
func (s *stage) reconcile() (int, reconcile.Result) {
	s.t.Helper()
	before := s.writes
	result, err := s.budget.Reconcile(s.t.Context(), s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.writes - before, result
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

func (s *stage) budgets() []string {
	var out []string
	for _, o := range s.Objects {
		pdb, ok := o.(*policyv1.PodDisruptionBudget)
		if !ok {
			continue
		}
		value := "?"
		if v, problem := annotation.ValueOf(pdb.Name, &pdb.Spec); problem == nil {
			value = v.String()
		}
		reason := annotation.DecodeBudgetRecord(pdb.Annotations, s.clock.Now()).Reason
		if reason == "" {
			reason = "-"
		}
		out = append(out, pdb.Name+" "+value+" "+reason)
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

// advance moves the clock forward.
func (s *stage) advance(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }
