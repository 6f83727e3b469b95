// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

var request = Request{Length: 10 * time.Minute, Reason: "drill", Wait: true}

func (s *stage) recorded(t *testing.T) bool {
	t.Helper()
	r, err := recordOf(t.Context(), s.cluster.Kube, s.cluster.Owner)
	if err != nil {
		t.Fatal(err)
	}
	return r != nil
}

func TestCut(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if err := s.cluster.Cut(t.Context(), s.lock(t), request); err != nil {
		t.Fatal(err)
	}
	want := observe.CutValue(s.clock.Time.Add(10 * time.Minute))
	if s.cutOf("a") != want || s.cutOf("b") != want || !s.recorded(t) {
		t.Errorf("the selectors have %q and %q; recorded: %t", s.cutOf("a"), s.cutOf("b"), s.recorded(t))
	}
	s.wantShown(t, "Service a is cut until 2026-11-20T12:10:00Z", "Service b is cut until 2026-11-20T12:10:00Z")
	if len(s.events) != 1 || s.events[0] != "ClientTrafficCut: client traffic through Service a, b cut until 2026-11-20T12:10:00Z" {
		t.Errorf("the Events are %q", s.events)
	}
}

// TestCutUndone: where one Service can't be cut, none stays cut.
func TestCutUndone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		code int
		wait time.Duration
	}{
		{"refused", http.StatusForbidden, 0},
		{"it isn't known whether it was accepted", http.StatusInternalServerError, writeGrace},
	} {
		s := newStage(t)
		began := s.clock.Time
		s.refuse(row.code, services+"b")
		operatetest.WantError(t, s.cluster.Cut(t.Context(), s.lock(t), request), "cut client traffic of Service b")
		if s.cutOf("a") != "" || s.cutOf("b") != "" || s.recorded(t) || len(s.events) > 0 {
			t.Errorf("%s: the selectors have %q and %q; recorded: %t; Events: %q", row.name, s.cutOf("a"), s.cutOf("b"), s.recorded(t), s.events)
		}
		if waited := s.clock.Since(began); waited != row.wait {
			t.Errorf("%s: waited %s, want %s", row.name, waited, row.wait)
		}
	}
}

// TestCutLate: a write that takes effect after its error is removed, too.
func TestCutLate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	late := &lateClock{HastyClock: s.clock}
	s.cluster.Clock = late
	s.refuse(http.StatusInternalServerError, services+"b")
	late.then = func() {
		s.Refuse = nil
		s.service("b", "cut-until-7")
	}
	operatetest.WantError(t, s.cluster.Cut(t.Context(), s.lock(t), request), "Service b")
	if s.cutOf("b") != "" {
		t.Errorf("the selector has %q", s.cutOf("b"))
	}
}

// TestCutExtended: where the end of a cut can't be moved, the cut stays.
func TestCutExtended(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	held := s.lock(t)
	if err := s.cluster.Cut(t.Context(), held, request); err != nil {
		t.Fatal(err)
	}
	s.refuse(http.StatusForbidden, services+"b")
	long := request
	long.Length = time.Hour
	operatetest.WantError(t, s.cluster.Cut(t.Context(), held, long), "Service b")
	if s.cutOf("a") == "" || s.cutOf("b") == "" || !s.recorded(t) {
		t.Errorf("the selectors have %q and %q; recorded: %t", s.cutOf("a"), s.cutOf("b"), s.recorded(t))
	}
}

// TestCutLostLock: nothing is written without the lock.
func TestCutLostLock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	held := s.lock(t)
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.cluster.cutAll(t.Context(), held); err == nil || s.cutOf("a") != "" {
		t.Errorf("%v, the selector has %q", err, s.cutOf("a"))
	}
}

// TestCutDruid: etcd-druid is only suspended where etcd-webhook doesn't maintain the cut.
func TestCutDruid(t *testing.T) {
	t.Parallel()
	for maintained, want := range map[bool]any{true: nil, false: suspendValue} {
		s := newStage(t)
		s.druid(nil)
		s.cluster.maintained = maintained
		if err := s.cluster.Cut(t.Context(), s.lock(t), request); err != nil || s.suspension() != want {
			t.Errorf("maintained %t: %v, the suspension is %v, want %v", maintained, err, s.suspension(), want)
		}
	}
}

func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for code, want := range map[int]bool{http.StatusForbidden: false, http.StatusConflict: false, http.StatusInternalServerError: true} {
		s.refuse(code, services+"a")
		if err := writeCut(t.Context(), s.cluster.Kube, &s.cluster.Services.Chosen[0], s.clock.Time); outcomeUnknown(err) != want {
			t.Errorf("%v: unknown %t, want %t", err, !want, want)
		}
	}
	if !outcomeUnknown(context.Canceled) {
		t.Error("the outcome of an interrupted write is known")
	}
}

func TestRestoreAll(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.druid(map[string]any{SuspendAnnotation: suspendValue})
	s.service("a", "cut-until-7")
	s.service("b", "cut-until-7")
	s.refuse(http.StatusForbidden, services+"a")
	operatetest.WantError(t, s.cluster.RestoreAll(t.Context(), []string{"a", "gone", "b"}), "restore client traffic of Service a")
	if s.cutOf("b") != "" || s.suspension() == nil {
		t.Errorf("b has %q, and the suspension is %v", s.cutOf("b"), s.suspension())
	}
	s.Refuse = nil
	if err := s.cluster.RestoreAll(t.Context(), []string{"a", "b"}); err != nil || s.cutOf("a") != "" || s.suspension() != nil {
		t.Errorf("%v: a has %q, and the suspension is %v", err, s.cutOf("a"), s.suspension())
	}
	s.wantShown(t, "Client traffic through Service b is restored", "Client traffic through Service a is restored", "etcd-druid reconciles Etcd team/main again")
}

// TestRestoreLockedRecord: clients are let in although the record of the cut can't be removed. That is a warning.
func TestRestoreLockedRecord(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	held := s.lock(t)
	if err := WriteRecord(t.Context(), held, &Record{Holder: "ann"}); err != nil {
		t.Fatal(err)
	}
	s.service("a", "cut-until-7")
	s.refuse(http.StatusForbidden, "/apis/coordination.k8s.io/v1/namespaces/team/leases/"+lock.Name(s.cluster.Owner))
	if err := s.cluster.RestoreLocked(t.Context(), held, []string{"a"}); err != nil || s.cutOf("a") != "" || len(s.events) != 1 || len(s.shown) != 2 {
		t.Errorf("%v, a has %q, Events %q, shown %q", err, s.cutOf("a"), s.events, s.shown)
	}
	s.Refuse = nil
}

func TestDeleteRecord(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	held := s.lock(t)
	if err := WriteRecord(t.Context(), held, &Record{Holder: "ann"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	s.cluster.deleteRecord(ctx)
	if !s.recorded(t) {
		t.Error("it is deleted while another operation has the lock")
	}
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.cluster.deleteRecord(t.Context())
	if s.recorded(t) {
		t.Error("it isn't deleted")
	}
	if err := lock.CheckHeld(t.Context(), s.cluster.Kube, s.cluster.Owner, nil, nil); err != nil {
		t.Errorf("the lock is held: %v", err)
	}
}

// holding is a cluster whose cut lasts ten minutes, on a clock that calls a function.
func holding(t *testing.T, then func(s *stage)) *stage {
	t.Helper()
	s := newStage(t)
	s.cluster.until = s.clock.Time.Add(10 * time.Minute)
	for _, name := range []string{"a", "b"} {
		s.service(name, observe.CutValue(s.cluster.until))
	}
	s.cluster.Clock = &lateClock{HastyClock: s.clock, then: func() { then(s) }}
	return s
}

// TestHold: however a cut ends that this process holds, the traffic is restored.
func TestHold(t *testing.T) {
	t.Parallel()
	none := func(*stage) {}
	for _, row := range []struct {
		name   string
		then   func(*stage)
		verify error
		err    string
		shown  string
		length time.Duration
	}{
		{name: "its time is over", then: none, shown: "The cut ended automatically: its time was over", length: 10 * time.Minute},
		{name: "streams are left", then: none, verify: &ResidualError{"2 streams"}, err: "2 streams", shown: "The cut ended automatically: its time was over", length: 10 * time.Minute},
		{name: "it has no effect", then: none, verify: errors.New("endpoints are still ready"), err: "endpoints are still ready"},
		{name: "another client writes the Services", then: func(s *stage) { s.service("a", ""); s.service("b", "") }, err: "was lost before its end", length: holdPeriod},
		{
			name: "another client writes one Service", then: func(s *stage) { s.service("b", "") }, length: 10 * time.Minute,
			err:   "the cut of client traffic of StatefulSet team/main was lost before its end: another client wrote Service b without it",
			shown: "Warning: the cut is lost: another client wrote Service b without it. Its clients can connect. The other Services stay cut",
		},
		{
			name: "another client writes one Service, and streams are left", then: func(s *stage) { s.service("b", "") }, verify: &ResidualError{"2 streams"}, length: 10 * time.Minute,
			err: "another client wrote Service b without it", shown: "Warning: the cut is lost: another client wrote Service b",
		},
		{
			name: "clients write one Service after the other", length: 2 * holdPeriod, err: `"helm" wrote Service a without it, another client wrote Service b without it`,
			then: func(s *stage) {
				s.service("a", "")
				s.writtenBy("a", "helm")
				s.cluster.Clock = &lateClock{HastyClock: s.clock, then: func() { s.service("b", "") }}
			},
			shown: `Warning: the cut is lost: "helm" wrote Service a without it`,
		},
		{
			name: "an end that isn't readable keeps clients away, too", then: func(s *stage) { s.service("b", "disabled") }, length: 10 * time.Minute,
			shown: "The cut ended automatically: its time was over",
		},
		{
			name: "another command ends the cut of one Service", length: 10 * time.Minute,
			then:  func(s *stage) { s.service("b", ""); s.writtenBy("b", "kubectl-etcd") },
			shown: "Another command ended the cut of Service b",
		},
		{name: "one Service is deleted", then: func(s *stage) { s.Remove(services + "b") }, length: 10 * time.Minute, shown: "The cut ended automatically: its time was over"},
		{
			name: "all Services are deleted", then: func(s *stage) { s.Remove(services + "a"); s.Remove(services + "b") }, length: holdPeriod,
			err: "was lost before its end: no Service exists any more",
		},
		{
			name: "another command moves the end", then: func(s *stage) {
				s.service("a", observe.CutValue(s.clock.Time.Add(time.Minute)))
				s.service("b", observe.CutValue(s.clock.Time.Add(time.Minute)))
			},
			shown: "Another command moved the end of the cut to 2026-11-20T12:01:02Z", length: holdPeriod + time.Minute,
		},
		{name: "the Services can't be read", then: func(s *stage) {
			s.Refuse = func(method, _ string) int {
				if method == http.MethodGet && s.clock.Since(s.cluster.until) < 0 {
					return http.StatusForbidden
				}
				return 0
			}
		}, shown: "Warning: read Service a: ", length: 10 * time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := holding(t, row.then)
			began := s.clock.Time
			operatetest.WantError(t, s.cluster.Hold(t.Context(), func(context.Context) error { return row.verify }), row.err)
			if s.cutOf("a") != "" || s.cutOf("b") != "" {
				t.Errorf("the selectors have %q and %q", s.cutOf("a"), s.cutOf("b"))
			}
			if lasted := s.clock.Since(began); lasted != row.length {
				t.Errorf("it lasted %s, want %s", lasted, row.length)
			}
			if !s.hasShown(row.shown) || len(s.events) != 1 {
				t.Errorf("reported are %q, Events are %q", s.shown, s.events)
			}
		})
	}
}

// TestHoldInterrupted: Ctrl-C restores.
func TestHoldInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	s := holding(t, func(*stage) { interrupt() })
	operatetest.WantError(t, s.cluster.Hold(ctx, func(context.Context) error { return nil }), "the cut ends before 2026-11-20T12:10:00Z")
	if s.cutOf("a") != "" {
		t.Errorf("the selector has %q", s.cutOf("a"))
	}
}

// TestHoldUnderARestore: an interrupted cut does not let clients reach members that a restore has stopped and not
// checked yet. The restore does that at its end.
func TestHoldUnderARestore(t *testing.T) {
	t.Parallel()
	for _, key := range []string{v1alpha1.RestoreAnnotation, v1alpha1.RestartAnnotation} {
		ctx, interrupt := context.WithCancel(t.Context())
		s := holding(t, func(s *stage) {
			s.Put("/apis/apps/v1/namespaces/team/statefulsets/main", apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet",
				"metadata": apitest.Object{"namespace": "team", "name": "main", "annotations": apitest.Object{key: "2026-11-20T12:00:00Z 3"}}, "spec": apitest.Object{}})
			interrupt()
		})
		operatetest.WantError(t, s.cluster.Hold(ctx, func(context.Context) error { return nil }), "client traffic stays cut")
		if s.cutOf("a") == "" || len(s.events) > 0 {
			t.Errorf("%s: the selector has %q, Events are %q", key, s.cutOf("a"), s.events)
		}
	}
}

// TestHoldNotRestored: a restore that fails is an error, with the command that restores.
func TestHoldNotRestored(t *testing.T) {
	t.Parallel()
	s := holding(t, func(s *stage) { s.refuse(http.StatusForbidden, services+"a") })
	operatetest.WantError(t, s.cluster.Hold(t.Context(), func(context.Context) error { return nil }), "restore client traffic of Service a")
	if !s.hasShown("Warning: client traffic is NOT restored; try again: kubectl etcd restore-client-traffic main -n team") || len(s.events) > 0 {
		t.Errorf("reported are %q, Events are %q", s.shown, s.events)
	}
}

// TestAwaitEndOfOthers: a cut that another command of the plugin has ended is no loss.
func TestAwaitEndOfOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.cluster.until = s.clock.Time.Add(time.Minute)
	for i := range s.cluster.Services.Chosen {
		name := s.cluster.Services.Chosen[i].Name
		s.service(name, "")
		s.writtenBy(name, "kubectl-etcd")
	}
	if err := s.cluster.awaitEnd(t.Context()); err != nil {
		t.Error(err)
	}
	s.wantShown(t, "Another command ended the cut")
}

func TestAwaitEndpoints(t *testing.T) {
	t.Parallel()
	ready := map[string]any{"addresses": []any{"10.0.0.1"}}
	gone := func(n int) bool { return n == 0 }
	s := newStage(t)
	s.endpoints("b", ready)
	s.cluster.Clock = &lateClock{HastyClock: s.clock, then: func() { s.endpoints("b") }}
	if counts, err := s.cluster.awaitEndpoints(t.Context(), time.Time{}, gone, "none"); err != nil || len(counts) != 2 {
		t.Errorf("%v, %v", counts, err)
	}
	s.endpoints("b", ready)
	_, err := s.cluster.awaitEndpoints(t.Context(), s.clock.Time.Add(time.Minute), gone, "none")
	operatetest.WantError(t, err, "before all endpoints were gone: clients can connect again")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("out of time"))
	_, err = s.cluster.awaitEndpoints(ctx, time.Time{}, gone, "no endpoint to be ready")
	operatetest.WantError(t, err, "waited for no endpoint to be ready: out of time")
}

func TestResidual(t *testing.T) {
	t.Parallel()
	members := []MemberStreams{{Pod: "main-0", Open: []OpenStreams{{"Watch/Watch", 2}}}, {Pod: "main-1", Open: []OpenStreams{{"Lease/LeaseKeepAlive", 1}}}}
	unread := MemberStreams{Err: errors.New("no metrics")}
	effect := func(m ...MemberStreams) Effect { return Effect{OpenStreams: sum(m), Members: m} }
	operatetest.WantError(t, effect(members...).Residual(), "at least 3 streams open")
	operatetest.WantError(t, effect(unread).Residual(), "couldn't be counted")
	operatetest.WantError(t, effect(append(members, unread)...).Residual(), "at least 3 streams open")
	operatetest.WantError(t, effect(MemberStreams{Requests: []Requests{{"KV/Put", 100, 5}}}).Residual(), "at least 20.0 per second")
	operatetest.WantError(t, Effect{}.Residual(), "couldn't be counted")
	if err := (Effect{OpenStreams: sum(nil)}).Residual(); err != nil {
		t.Errorf("without streams: %v", err)
	}
}

// TestUnreached: the traffic of a member that can't be asked is not known, and never counts as none.
func TestUnreached(t *testing.T) {
	t.Parallel()
	measured := []MemberStreams{{Pod: "main-0"}, {Pod: "main-1"}}
	listed := []etcd.Listed{{ID: 1, Pod: "main-0"}, {ID: 2, Pod: "main-1"}}
	for _, row := range []struct {
		name   string
		listed []etcd.Listed
		want   string
	}{
		{"all are measured", listed, ""},
		{"the list is not known", nil, ""},
		{"one has no pod", append(slices.Clone(listed), etcd.Listed{ID: 0xa9, Name: "main-2"}), "main-2 00000000000000a9"},
		{"one has never started", append(slices.Clone(listed), etcd.Listed{ID: 0xa9}), "(never started) 00000000000000a9"},
		{"the pod of one is new", append(slices.Clone(listed), etcd.Listed{ID: 0xa9, Pod: "main-2"}), "main-2 00000000000000a9"},
	} {
		got := addUnreached(slices.Clone(measured), row.listed)
		err := Effect{OpenStreams: sum(got), Members: got}.Residual()
		if row.want == "" {
			if err != nil || len(got) != 2 {
				t.Errorf("%s: %v, %v", row.name, got, err)
			}
			continue
		}
		operatetest.WantError(t, err, "couldn't be counted")
		if len(got) != 3 || got[2].Pod != row.want || got[2].Err == nil {
			t.Errorf("%s: %v, want %s", row.name, got, row.want)
		}
	}
}

// TestAwaitCutUnreached: a cut of a cluster with a voter that no pod runs does not have its full effect.
func TestAwaitCutUnreached(t *testing.T) {
	t.Parallel()
	members, s := etcdtest.New(t, "main-0"), newStage(t)
	s.Dial = members.Dial
	c := s.cluster
	c.Members = &etcd.Cluster{Tunnel: tunnel.New(s.Config()), Endpoints: []access.Endpoint{
		{Namespace: "team", Pod: "main-0", Port: etcdtest.ClientPort, MetricsPort: etcdtest.MetricsPort},
	}}
	defer c.Members.Close()
	c.Reader = &observe.Reader{Reader: c.Kube}
	if _, err := c.Members.Survey(t.Context()); err != nil { // a call that the member has counted
		t.Fatal(err)
	}
	for _, row := range []struct {
		listed []etcd.Listed
		want   string
	}{
		{[]etcd.Listed{{ID: 1, Pod: "main-0"}}, ""},
		{[]etcd.Listed{{ID: 1, Pod: "main-0"}, {ID: 0xa9, Name: "far"}}, "couldn't be counted"},
	} {
		c.survey.List = row.listed
		effect, err := c.AwaitCut(t.Context(), Request{Detach: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := effect.Residual(); row.want == "" && err != nil || row.want != "" && (err == nil || effect.OpenStreams != nil) {
			t.Errorf("%v: %v, %+v", row.listed, err, effect)
		}
	}
}

func TestObstacleOfHeadless(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.cluster.Services = Services{Peer: "main-peer", Left: []string{"a"}}
	for name, want := range map[string]string{
		"main-peer": "cannot cut client traffic of StatefulSet team/main: Service main-peer is headless",
		"other":     "Service other doesn't lead clients to it; Service a does",
		"":          "they dial the members themselves",
	} {
		operatetest.WantError(t, s.cluster.noService(name), want)
	}
	obstacle, err := ServiceObstacle(t.Context(), nil, s.cluster.Owner, &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}})
	if err != nil || obstacle == "" {
		t.Errorf("a headless Service may be cut: %q, %v", obstacle, err)
	}
}
