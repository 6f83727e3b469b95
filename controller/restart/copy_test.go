// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/tools/events"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// druid is a cluster of etcd-druid, and a request on its Etcd.
type druid struct{ *stage }

func newDruid(t *testing.T, request string) druid {
	t.Helper()
	s := druid{&stage{
		Store: &controllertest.Store{Objects: controllertest.Cluster(t, "druid-3", "shoot", "{}")}, t: t,
		key: owner.Key{Kind: "Etcd", Namespace: "shoot", Name: "main"},
	}}
	s.request(request)
	return s
}

func (s druid) request(text string) {
	s.t.Helper()
	controllertest.Find[*druidv1alpha1.Etcd](s.t, s.Objects, "main").Annotations = map[string]string{v1alpha1.RestartRequestAnnotation: text}
}

func (s druid) statefulSet() *appsv1.StatefulSet {
	s.t.Helper()
	return controllertest.Find[*appsv1.StatefulSet](s.t, s.Objects, "main")
}

// overwrite writes the StatefulSet as etcd-druid does, while no replica of etcd-webhook answers.
func (s druid) overwrite() { s.statefulSet().Annotations = nil }

func (s druid) record() string { return s.statefulSet().Annotations[v1alpha1.RestartedPodsAnnotation] }

// complete has the restart be done.
func (s druid) complete() {
	s.t.Helper()
	const done = ";rolling"
	s.statefulSet().Annotations[v1alpha1.RestartedPodsAnnotation] = done
	s.step()
}

// TestRecordOutlivesOverwrittenStatefulSet: etcd-druid removes the record, and no replica of etcd-webhook restores it. A
// request that is done is not carried out again, and one that is not goes on with the pods that it began with.
func TestRecordOutlivesOverwrittenStatefulSet(t *testing.T) {
	t.Parallel()
	s := newDruid(t, "rolling")
	if got := s.step(); !strings.Contains(got, "RestartRequestBegun") {
		t.Fatal(got)
	}
	for _, complete := range []bool{false, true} {
		if complete {
			s.complete()
		}
		before := s.record()
		s.overwrite()
		if got := s.step(); strings.Contains(got, "RestartRequestBegun") || s.record() != before || before == "" {
			t.Errorf("%s, and the record is %q, was %q", got, s.record(), before)
		}
	}
	s.request("rolling again")
	if got := s.step(); !strings.Contains(got, "RestartRequestBegun") {
		t.Errorf("another request: %s", got)
	}
}

// TestCopyEnds: a request that is withdrawn leaves no copy, and a StatefulSet that is created again has done nothing yet.
func TestCopyEnds(t *testing.T) {
	t.Parallel()
	s := newDruid(t, "rolling")
	s.step()
	s.complete()
	s.overwrite()
	s.statefulSet().UID = "another"
	for _, o := range s.Objects {
		if pod, is := o.(*corev1.Pod); is && pod.OwnerReferences[0].Kind == "StatefulSet" {
			pod.OwnerReferences[0].UID = "another"
		}
	}
	if got := s.step(); !strings.Contains(got, "RestartRequestBegun") {
		t.Errorf("created again: %s", got)
	}
	s.overwrite()
	s.request("")
	if got := s.step(); !strings.Contains(got, "RestartRequestWithdrawn") {
		t.Errorf("withdrawn: %s", got)
	}
	pdb := controllertest.Find[*policyv1.PodDisruptionBudget](t, s.Objects, "main")
	if text, has := pdb.Annotations[v1alpha1.RestartedPodsAnnotation]; has || s.record() != "" {
		t.Errorf("the copy %q or the record %q is left", text, s.record())
	}
}

// TestRequestOnOverwrittenStatefulSet: a request on the StatefulSet of an Etcd is reported, and changes nothing: neither
// begins it, nor does the one of the Etcd that is done begin again when it is removed.
func TestRequestOnOverwrittenStatefulSet(t *testing.T) {
	t.Parallel()
	s := newDruid(t, "")
	s.statefulSet().Annotations = map[string]string{v1alpha1.RestartRequestAnnotation: "main-0"}
	s.expect("RestartRequestInvalid")
	s.request("rolling")
	s.step()
	s.complete()
	if record := s.record(); record != ";rolling" {
		t.Errorf("the record is %q", record)
	}
	delete(s.statefulSet().Annotations, v1alpha1.RestartRequestAnnotation)
	s.expect("")
}

// TestTwoInvalidRequests: each request that names no pod is reported.
func TestTwoInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.events = events.NewFakeRecorder(100)
	c := s.controller()
	for _, request := range []string{"coordinated", "other-0"} {
		s.request(request)
		if _, err := c.Reconcile(t.Context(), s.key); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(controllertest.Recorded(t, s.events), "; "); !strings.Contains(got, request) {
			t.Errorf("the Events are %q", got)
		}
	}
}
