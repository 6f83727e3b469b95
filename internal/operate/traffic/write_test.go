// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// patching calls a function after each patch, with the answer.
type patching struct {
	client.Client

	after func(s *corev1.Service)
}

func (p patching) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := p.Client.Patch(ctx, o, patch, opts...)
	if s, ok := o.(*corev1.Service); ok {
		p.after(s)
	}
	return err
}

func TestProbeCut(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	service := &s.cluster.Services.Chosen[0]
	got, err := probeCut(t.Context(), s.cluster.Kube, service, s.clock.Time)
	if err != nil || got.maintained || !got.now.Equal(s.clock.Time) {
		t.Errorf("without a webhook: %+v, %v", got, err)
	}
	webhook := patching{s.cluster.Kube, func(s *corev1.Service) {
		if s.Spec.Selector[v1alpha1.ClientTrafficKey] == unreadableCut {
			delete(s.Spec.Selector, v1alpha1.ClientTrafficKey)
		}
	}}
	if got, err = probeCut(t.Context(), webhook, service, s.clock.Time); err != nil || !got.maintained {
		t.Errorf("with a webhook: %+v, %v", got, err)
	}
	if s.cutOf("a") != "" {
		t.Error("a probe has cut the Service")
	}
	s.refuse(http.StatusForbidden, services+"a")
	_, err = probeCut(t.Context(), s.cluster.Kube, service, s.clock.Time)
	operatetest.WantError(t, err, "cut client traffic of Service a, as a dry run")
}

func TestWriteCut(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name   string
		before func(*stage)
		after  func(*corev1.Service)
		err    string
		cut    bool
	}{
		{name: "cut", cut: true},
		{name: "another client has changed the selector", before: func(s *stage) { s.service("a", "cut-until-1") }, err: "another client changed its selector meanwhile"},
		{name: "the Service is gone", before: func(s *stage) { s.Remove(services + "a") }, err: "cut client traffic of Service a"},
		{name: "a webhook changes the write", after: func(s *corev1.Service) { s.Spec.Selector[v1alpha1.ClientTrafficKey] = "other" }, err: `an admission webhook changed it: the selector has "other"`, cut: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			kube := s.cluster.Kube
			if row.before != nil {
				row.before(s)
			}
			if row.after != nil {
				kube = patching{kube, row.after}
			}
			operatetest.WantError(t, writeCut(t.Context(), kube, &s.cluster.Services.Chosen[0], until), row.err)
			if cut := s.cutOf("a") == observe.CutValue(until); cut != row.cut {
				t.Errorf("the selector has %q", s.cutOf("a"))
			}
		})
	}
}

// TestRestore: a cut ends by two writes, the first of which is an end in the past.
func TestRestore(t *testing.T) {
	t.Parallel()
	key := client.ObjectKey{Namespace: "team", Name: "a"}
	s := newStage(t)
	if restored, err := Restore(t.Context(), s.cluster.Kube, key); restored || err != nil || len(s.Writes()) > 0 {
		t.Errorf("of a Service that isn't cut: %t, %v, %q", restored, err, s.Writes())
	}
	s.service("a", observe.CutValue(s.clock.Time))
	var values []string
	kube := patching{s.cluster.Kube, func(*corev1.Service) { values = append(values, s.cutOf("a")) }}
	if restored, err := Restore(t.Context(), kube, key); !restored || err != nil {
		t.Errorf("%t, %v", restored, err)
	}
	if len(values) != 2 || values[0] != observe.CutValue(time.Time{}) || values[1] != "" {
		t.Errorf("the selector had %q", values)
	}
	s.Remove(services + "a")
	_, err := Restore(t.Context(), s.cluster.Kube, key)
	operatetest.WantError(t, err, "restore client traffic of Service a")
}

// TestRestoreConflict: what another client writes meanwhile is read again, ten times.
func TestRestoreConflict(t *testing.T) {
	t.Parallel()
	for conflicts, fails := range map[int]bool{3: false, 10: true} {
		s := newStage(t)
		s.service("a", observe.CutValue(s.clock.Time))
		patches := 0
		s.Refuse = func(method, _ string) int {
			if method != http.MethodPatch {
				return 0
			}
			if patches++; patches > conflicts {
				return 0
			}
			return http.StatusConflict
		}
		_, err := Restore(t.Context(), s.cluster.Kube, client.ObjectKey{Namespace: "team", Name: "a"})
		if (err != nil) != fails || (s.cutOf("a") != "") != fails {
			t.Errorf("%d conflicts: %v, the selector has %q", conflicts, err, s.cutOf("a"))
		}
	}
}

func TestTryRestore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.service("a", observe.CutValue(s.clock.Time))
	var service corev1.Service
	if err := s.cluster.Kube.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "a"}, &service); err != nil {
		t.Fatal(err)
	}
	if err := TryRestore(t.Context(), s.cluster.Kube, &service); err != nil || s.cutOf("a") == "" {
		t.Errorf("%v, the selector has %q", err, s.cutOf("a"))
	}
	s.refuse(http.StatusForbidden, services+"a")
	operatetest.WantError(t, TryRestore(t.Context(), s.cluster.Kube, &service), "refused by the test")
}

func TestReadyEndpoints(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.endpoints("a",
		map[string]any{"addresses": []any{"10.0.0.2"}, "targetRef": map[string]any{"name": "main-1"}},
		map[string]any{"addresses": []any{"10.0.0.1"}, "conditions": map[string]any{"ready": true}},
		map[string]any{"addresses": []any{"10.0.0.3"}, "conditions": map[string]any{"ready": false}},
		map[string]any{"addresses": []any{"10.0.0.1"}},
	)
	s.endpoints("b", map[string]any{"addresses": []any{"10.0.0.9"}})
	got, err := ReadyEndpoints(t.Context(), s.cluster.Kube, client.ObjectKey{Namespace: "team", Name: "a"})
	if err != nil || len(got) != 2 || got[0] != "10.0.0.1" || got[1] != "main-1 (10.0.0.2)" {
		t.Errorf("%q, %v", got, err)
	}
	s.Refuse = func(string, string) int { return http.StatusForbidden }
	_, err = ReadyEndpoints(t.Context(), s.cluster.Kube, client.ObjectKey{Namespace: "team", Name: "a"})
	operatetest.WantError(t, err, "list EndpointSlices of Service a")
}

func TestWriteRecord(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	read := func() *Record {
		r, err := recordOf(t.Context(), s.cluster.Kube, s.cluster.Owner)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := read(); r != nil {
		t.Errorf("before the first cut it is %+v", r)
	}
	held := s.lock(t)
	want := Record{Services: []string{"a", "b"}, Until: s.clock.Time, Holder: "ann", Reason: "drill"}
	if err := WriteRecord(t.Context(), held, &want); err != nil {
		t.Fatal(err)
	}
	if r := read(); r == nil || r.Holder != want.Holder || r.Reason != want.Reason || len(r.Services) != 2 || !r.Until.Equal(want.Until) {
		t.Errorf("it is %+v, want %+v", r, want)
	}
	if err := WriteRecord(t.Context(), held, nil); err != nil || read() != nil {
		t.Errorf("%v, removed it is %+v", err, read())
	}
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := WriteRecord(t.Context(), held, &want); err == nil || read() != nil {
		t.Errorf("without the lock: %v, it is %+v", err, read())
	}
}

func TestSuspend(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name             string
		before           map[string]any
		suspended, after any
		resumed          bool
	}{
		{name: "not suspended", suspended: suspendValue, resumed: true},
		{name: "suspended by a user", before: map[string]any{SuspendAnnotation: ""}, suspended: "", after: ""},
		{name: "suspended by a cut", before: map[string]any{SuspendAnnotation: suspendValue}, suspended: suspendValue, resumed: true},
	} {
		s := newStage(t)
		s.druid(row.before)
		if err := suspend(t.Context(), s.cluster.Kube, s.cluster.Owner); err != nil || s.suspension() != row.suspended {
			t.Errorf("%s: %v, the annotation is %q", row.name, err, s.suspension())
		}
		resumed, err := Resume(t.Context(), s.cluster.Kube, s.cluster.Owner)
		if err != nil || resumed != row.resumed || s.suspension() != row.after {
			t.Errorf("%s: resumed %t, %v, the annotation is %q", row.name, resumed, err, s.suspension())
		}
	}
	s := newStage(t)
	if resumed, err := Resume(t.Context(), s.cluster.Kube, s.cluster.Owner); resumed || err != nil {
		t.Errorf("of a StatefulSet: %t, %v", resumed, err)
	}
	s.druid(nil)
	s.refuse(http.StatusForbidden, etcdAt)
	err := suspend(t.Context(), s.cluster.Kube, s.cluster.Owner)
	operatetest.WantError(t, err, "annotate Etcd team/main with "+SuspendAnnotation)
	if errors.Is(err, errChanged) {
		t.Error("it is a conflict")
	}
}

// TestTryCut: a dry run returns the Service as it would be, and leaves the one in the cluster, and the
// one that was read, as they are.
func TestTryCut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(*stage)
		err    string
	}{
		{name: "accepted"},
		{name: "denied", before: func(s *stage) { s.refuse(http.StatusForbidden, services+"a") }, err: "cut client traffic of Service a, as a dry run: refused by the test"},
		{name: "another client has changed the selector", before: func(s *stage) { s.service("a", "cut-until-1") }, err: "cut client traffic of Service a, as a dry run"},
		{name: "the Service is gone", before: func(s *stage) { s.Remove(services + "a") }, err: "cut client traffic of Service a, as a dry run"},
	} {
		s := newStage(t)
		if row.before != nil {
			row.before(s)
		}
		before, read := s.cutOf("a"), &s.cluster.Services.Chosen[0]
		tried, err := tryCut(t.Context(), s.cluster.Kube, read, "probe")
		operatetest.WantError(t, err, row.err)
		if row.err == "" && tried.Spec.Selector[v1alpha1.ClientTrafficKey] != "probe" {
			t.Errorf("%s: the answer has the selector %v", row.name, tried.Spec.Selector)
		}
		if _, changed := read.Spec.Selector[v1alpha1.ClientTrafficKey]; changed || s.cutOf("a") != before {
			t.Errorf("%s: the selector is %v, and %q in the cluster", row.name, read.Spec.Selector, s.cutOf("a"))
		}
	}
}

// TestAnnotate: druid's annotation is set or removed on the Etcd of the plan, and no other field is
// written.
func TestAnnotate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before map[string]any
		value  any
		after  func(*stage)
		want   any
		err    string
	}{
		{name: "set", value: suspendValue, want: suspendValue},
		{name: "removed", before: map[string]any{SuspendAnnotation: suspendValue}},
		{name: "denied", value: suspendValue, after: func(s *stage) { s.refuse(http.StatusForbidden, etcdAt) }, err: "annotate Etcd team/main with " + SuspendAnnotation},
		{name: "created again", value: suspendValue, after: func(s *stage) { s.cluster.UID = "earlier" }, err: "annotate Etcd team/main with " + SuspendAnnotation},
	} {
		s := newStage(t)
		s.druid(row.before)
		if row.after != nil {
			row.after(s)
		}
		operatetest.WantError(t, annotate(t.Context(), s.cluster.Kube, s.cluster.Owner, row.value), row.err)
		if s.suspension() != row.want {
			t.Errorf("%s: the annotation is %v", row.name, s.suspension())
		}
	}
	s := newStage(t)
	s.druid(nil)
	s.Remove(etcdAt)
	operatetest.WantError(t, annotate(t.Context(), s.cluster.Kube, s.cluster.Owner, suspendValue), "annotate Etcd team/main")
	if s.Get(etcdAt) != nil {
		t.Error("an Etcd was created")
	}
}
