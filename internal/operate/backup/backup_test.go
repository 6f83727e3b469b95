// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

const (
	tasks  = "/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcdopstasks"
	etcdAt = "/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/main"
)

// stage is a druid cluster of three in memory, whose tasks end as outcomes has them.
type stage struct {
	*apitest.Server
	*operatetest.HastyClock

	store *Store
	// outcomes are the states and errors of one task after the other, "" for one that
	// doesn't end.
	outcomes [][2]string
	shown    []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: apitest.New(t), HastyClock: &operatetest.HastyClock{Time: time.Unix(0, 0)}}
	kube := s.Client(t)
	show := func(format string, args ...any) { s.shown = append(s.shown, fmt.Sprintf(format, args...)) }
	s.store = &Store{
		Owner:  owner.Owner{WorkloadKind: owner.DruidStatefulSet, Distribution: flavour.Druid, Kind: "Etcd", Namespace: "team", Name: "main", Replicas: 3},
		Kube:   kube,
		Reader: &observe.Reader{Reader: kube}, Clock: s, Logf: show, Progressf: show, Warnf: show,
		Require: func(context.Context, []operate.Need) error { return nil },
		Store:   backupstore.Store{Provider: "S3", Container: "bucket"},
	}
	s.Put("/apis/coordination.k8s.io/v1/namespaces/team/leases/main-full-snap", apitest.Object{
		"metadata": apitest.Object{"namespace": "team", "name": "main-full-snap"},
		"spec":     apitest.Object{"holderIdentity": "42", "renewTime": "2026-11-20T12:00:00.000000Z"},
	})
	return s
}

// After has the newest task end.
func (s *stage) After(d time.Duration) <-chan time.Time {
	made := s.made()
	if n := len(made); n > 0 && n <= len(s.outcomes) && s.outcomes[n-1][0] != "" {
		task := s.Get(made[n-1])
		task["status"] = apitest.Object{"state": s.outcomes[n-1][0]}
		if text := s.outcomes[n-1][1]; text != "" {
			task["status"] = apitest.Object{"state": s.outcomes[n-1][0], "lastErrors": []any{apitest.Object{"code": "E", "description": text}}}
		}
		s.Put(made[n-1], task)
	}
	return s.HastyClock.After(d)
}

// made returns the paths of the tasks, the oldest first.
func (s *stage) made() []string {
	made := slices.DeleteFunc(s.Paths(), func(p string) bool { return !strings.HasPrefix(p, tasks) })
	slices.SortFunc(made, func(a, b string) int { return stdcmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return made
}

// sidecars is a sidecar that answers in one way.
type sidecars struct {
	written StoredSnapshot
	nothing bool
	err     error
}

func (s sidecars) Full(context.Context) (StoredSnapshot, error) { return s.written, s.err }

func (s sidecars) Delta(context.Context) (StoredSnapshot, bool, error) {
	return s.written, !s.nothing, s.err
}

// TestTake: a task is only created if no sidecar can be reached.
func TestTake(t *testing.T) {
	t.Parallel()
	written := StoredSnapshot{Kind: "Full", Name: "Full-0-9", LastRevision: 9}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "main-0", errors.New("no right"))
	for _, row := range []struct {
		name      string
		kind      Kind
		dial      error
		sidecar   sidecars
		what, err string
		tasks     int
		snapshot  bool
	}{
		{name: "full", kind: Full, sidecar: sidecars{written: written}, what: "backup-restore wrote full snapshot Full-0-9 into S3 store bucket", snapshot: true},
		{name: "delta", kind: Delta, sidecar: sidecars{written: written}, what: "backup-restore wrote delta snapshot Full-0-9 into S3 store bucket", snapshot: true},
		{name: "no change since the last delta", kind: Delta, sidecar: sidecars{nothing: true}},
		{name: "the sidecar fails", kind: Full, sidecar: sidecars{err: errors.New("the bucket is gone")}, err: "the bucket is gone"},
		{name: "its authority can't be read", kind: Full, dial: &unreachableError{errors.New("no authority")}, what: "etcd-druid took a full snapshot by EtcdOpsTask team/main-full-", tasks: 1},
		{name: "no permission to reach it", kind: Delta, sidecar: sidecars{err: fmt.Errorf("dial: %w", forbidden)}, what: "etcd-druid took a delta snapshot by EtcdOpsTask team/main-delta-", tasks: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.outcomes = [][2]string{{"Succeeded"}}
			s.store.dial = func(context.Context) (sidecar, error) { return row.sidecar, row.dial }
			taken, err := s.store.Take(t.Context(), row.kind)
			operatetest.WantError(t, err, row.err)
			if !strings.HasPrefix(taken.What, row.what) || row.what == "" && taken.What != "" || (taken.Snapshot != nil) != row.snapshot || len(s.made()) != row.tasks {
				t.Errorf("%+v, tasks %q", taken, s.made())
			}
		})
	}
}

func TestTakeByTask(t *testing.T) {
	t.Parallel()
	const elsewhere = "unexpected status code: 405"
	for _, row := range []struct {
		name     string
		outcomes [][2]string
		err      string
		tasks    int
	}{
		{name: "succeeds", outcomes: [][2]string{{"Succeeded"}}, tasks: 1},
		{name: "fails", outcomes: [][2]string{{"Failed", "no space"}}, err: "Failed: no space", tasks: 1},
		{name: "is rejected without a reason", outcomes: [][2]string{{"Rejected"}}, err: "Rejected: it reports no reason", tasks: 1},
		{name: "reaches another sidecar first", outcomes: [][2]string{{"Failed", elsewhere}, {"Failed", elsewhere}, {"Succeeded"}}, tasks: 3},
		{name: "never reaches the leader's", outcomes: slices.Repeat([][2]string{{"Failed", elsewhere}}, 20), err: elsewhere, tasks: 15},
		{name: "never ends", outcomes: [][2]string{{""}}, err: "has not ended within 16m", tasks: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.outcomes = row.outcomes
			name, err := s.store.takeByTask(t.Context(), Full)
			operatetest.WantError(t, err, row.err)
			if len(s.made()) != row.tasks || (name == "") != (row.err != "") {
				t.Errorf("task %q of %q", name, s.made())
			}
			if row.tasks == 1 && row.err != "" && errors.Is(err, context.DeadlineExceeded) != strings.Contains(row.err, "16m") {
				t.Errorf("%v is taken for a timeout", err)
			}
		})
	}
}

// TestTask: a task has what etcd-druid needs, and its end is reported by the lease.
func TestTask(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.outcomes = [][2]string{{"Succeeded"}}
	if _, err := s.store.takeByTask(t.Context(), Full); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"etcdName": "main", "config": map[string]any{"onDemandSnapshot": map[string]any{"type": "full"}}}
	if diff := cmp.Diff(want, s.Get(s.made()[0])["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := s.shown[len(s.shown)-1]; last != "According to its lease main-full-snap, the store has had revision 42 since 2026-11-20T12:00:00Z" {
		t.Errorf("reported are %q", s.shown)
	}
	s.Refuse = func(method, _ string) int {
		if method == http.MethodPost {
			return http.StatusForbidden
		}
		return 0
	}
	_, err := s.store.takeByTask(t.Context(), Full)
	operatetest.WantError(t, err, "create an EtcdOpsTask for Etcd team/main")
}

func TestTry(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, byTask := range []bool{false, true} {
		s.store.byTask = byTask
		if err := s.store.Try(t.Context(), Full); err != nil || len(s.made()) > 0 || (len(s.Writes()) > 0) != byTask {
			t.Errorf("by task %t: %v, tasks %q, writes %q", byTask, err, s.made(), s.Writes())
		}
	}
}

func TestChooseWay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		tls, authErr bool
		planOnly     bool
		lacks        string
		byTask       bool
		err          string
	}{
		{name: "all permissions"},
		{name: "only a plan", planOnly: true, lacks: "pods etcdopstasks"},
		{name: "no tunnel", lacks: "pods", byTask: true},
		{name: "neither", lacks: "pods etcdopstasks", err: "pods/portforward"},
		{name: "no authority", tls: true, authErr: true, byTask: true},
		{name: "no authority and no task", tls: true, authErr: true, lacks: "etcdopstasks", byTask: true, err: "you need to read the authority of their certificate: no Secret"},
	} {
		s := newStage(t)
		s.store.TLS = row.tls
		if row.authErr {
			s.store.CAErr = errors.New("no Secret")
		}
		s.store.Require = func(_ context.Context, needs []operate.Need) error {
			if strings.Contains(row.lacks, needs[0].Resource) {
				return &operate.MissingError{Needs: needs}
			}
			return nil
		}
		err := s.store.chooseWay(t.Context(), row.planOnly)
		operatetest.WantError(t, err, row.err)
		if s.store.byTask != row.byTask {
			t.Errorf("%s: by task %t, want %t", row.name, s.store.byTask, row.byTask)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	druid := func(spec apitest.Object) {
		s.Put(etcdAt, apitest.Object{"metadata": apitest.Object{"namespace": "team", "name": "main"}, "spec": spec})
	}
	druid(apitest.Object{"backup": apitest.Object{}})
	operatetest.WantError(t, s.store.Find(t.Context()), "cannot take a snapshot with backup-restore of Etcd team/main: it has no backup store (spec.backup.store)")
	druid(apitest.Object{"backup": apitest.Object{"store": apitest.Object{"provider": "S3", "container": "bucket", "prefix": "main"}}})
	if err := s.store.Find(t.Context()); err != nil || s.store.Prefix != "main" {
		t.Errorf("%+v, %v", s.store.Store, err)
	}
	s.store.WorkloadKind, s.store.Distribution = owner.StatefulSet, flavour.Plain
	operatetest.WantError(t, s.store.Find(t.Context()), "it is not a cluster of etcd-druid")
}

func TestChoose(t *testing.T) {
	t.Parallel()
	var warnings []string
	warnf := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	leader := etcd.Member{Pod: "main-0", Leader: true, LeaderID: 1, Revision: 9}
	follower := etcd.Member{Pod: "main-1", LeaderID: 1, Revision: 9}
	for _, row := range []struct {
		name         string
		members      []etcd.Member
		pod          string
		want         string
		err, warning string
	}{
		{name: "a follower", members: []etcd.Member{leader, follower}, want: "main-1 main-0"},
		{name: "no leader", members: []etcd.Member{{Pod: "main-1", Revision: 5}}, want: "main-1", warning: "main-1 has no leader"},
		{name: "none usable", members: []etcd.Member{{Pod: "main-0", Err: errors.New("gone")}, {Pod: "main-1", Learner: true, LeaderID: 1}, {Pod: "main-2", LeaderID: 1, Alarms: []string{"CORRUPT"}}}, err: "main-1 is a learner; main-2 has raised CORRUPT"},
		{name: "none", err: "none of its pods exists"},
		{name: "chosen", members: []etcd.Member{leader, follower}, pod: "main-0", want: "main-0"},
		{name: "chosen, a learner", members: []etcd.Member{leader, {Pod: "main-1", Learner: true, LeaderID: 1, Revision: 3}}, pod: "main-1", want: "main-1", warning: "main-1 is a learner, at revision 3 of 9"},
		{name: "chosen, corrupt", members: []etcd.Member{{Pod: "main-0", LeaderID: 1, Alarms: []string{"CORRUPT"}}}, pod: "main-0", want: "main-0", warning: "main-0 has raised CORRUPT"},
		{name: "chosen, without a leader", members: []etcd.Member{{Pod: "main-0"}}, pod: "main-0", want: "main-0", warning: "main-0 has no leader"},
		{name: "chosen, unknown", members: []etcd.Member{leader}, pod: "other", err: `no member with the pod "other": it has main-0`},
	} {
		warnings = nil
		order, err := choose(owner.Owner{Kind: "Etcd", Namespace: "team", Name: "main"}, row.members, row.pod, warnf)
		operatetest.WantError(t, err, row.err)
		if got := strings.Join(podsOf(order), " "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if text := strings.Join(warnings, "\n"); !strings.Contains(text, row.warning) || row.warning == "" && text != "" {
			t.Errorf("%s: the warnings are %q", row.name, text)
		}
	}
}

// TestRunTask: one task is created and awaited. It is left to etcd-druid where the wait ends early, and
// no other one is created where the first is refused or gone.
func TestRunTask(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		outcome string
		// refuse returns the code by which a request is refused.
		refuse func(method string) int
		cancel bool
		err    string
		tasks  int
	}{
		{name: "succeeds", outcome: "Succeeded", tasks: 1},
		{name: "fails", outcome: "Failed", tasks: 1}, // which the caller judges
		{name: "may not be created", refuse: codeOf(http.MethodPost, http.StatusForbidden), err: "create an EtcdOpsTask for Etcd team/main"},
		{name: "denied by admission", refuse: codeOf(http.MethodPost, http.StatusUnprocessableEntity), err: "create an EtcdOpsTask for Etcd team/main"},
		{name: "may not be read", refuse: codeOf(http.MethodGet, http.StatusForbidden), err: "read EtcdOpsTask team/main-full-", tasks: 1},
		{name: "is deleted", refuse: codeOf(http.MethodGet, http.StatusNotFound), err: "read EtcdOpsTask team/main-full-", tasks: 1},
		{name: "never ends", err: "has not ended within 16m", tasks: 1},
		{name: "interrupted", cancel: true, err: "context canceled", tasks: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.outcomes = [][2]string{{row.outcome}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.Refuse = func(method, path string) int {
				if row.cancel && method == http.MethodGet {
					cancel()
				}
				if row.refuse == nil || !strings.HasPrefix(path, tasks) {
					return 0
				}
				return row.refuse(method)
			}
			task, err := s.store.runTask(ctx, Full)
			operatetest.WantError(t, err, row.err)
			if (task == nil) != (err != nil) || task != nil && string(*task.Status.State) != row.outcome {
				t.Errorf("the task is %+v", task)
			}
			if posts := len(s.Writes()); len(s.made()) != row.tasks || posts > row.tasks {
				t.Errorf("tasks are %q, writes %q", s.made(), s.Writes())
			}
		})
	}
}

// codeOf refuses a method.
func codeOf(method string, code int) func(string) int {
	return func(m string) int {
		if m == method {
			return code
		}
		return 0
	}
}
