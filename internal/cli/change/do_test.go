// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// planChanged is the text of the refusal of a plan whose facts have changed.
const planChanged = "has changed since the plan was made: run the command again"

// stage is one operation on an API server in memory.
type stage struct {
	*apitest.Server

	app      *app.App
	cluster  *app.Cluster
	flags    Flags
	op       Operation
	out, err bytes.Buffer
	// calls are the functions of the operation that were called.
	calls []string
}

var (
	o           = owner.Owner{WorkloadKind: owner.StatefulSet, APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}
	lease       = "/apis/coordination.k8s.io/v1/namespaces/team/leases/" + lock.Name(o)
	journalPath = "/api/v1/namespaces/team/configmaps/" + journal.Name(o)
	events      = "/apis/events.k8s.io/v1/namespaces/team/events"
)

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: operatetest.NewCluster(t).Server, flags: Flags{DryRun: DryRunNone, yes: true, Wait: true, Timeout: time.Minute, Reason: "a test"}}
	s.app = app.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &s.out, ErrOut: &s.err})
	*s.app.Flags.APIServer = s.Config().Host
	*s.app.Flags.KubeConfig = filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(*s.app.Flags.KubeConfig, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	*s.app.Flags.Namespace = "team"
	var err error
	if s.cluster, err = s.app.Owner(t.Context(), "statefulset/main"); err != nil {
		t.Fatal(err)
	}
	s.op = Operation{
		Verb: "paint",
		Judge: func(context.Context) (operate.Plan, error) {
			s.calls = append(s.calls, "judge")
			return operate.Plan{Title: "paint it", Steps: []string{"take a brush"}}, nil
		},
		DryRun: func(context.Context) error {
			s.calls = append(s.calls, "dry run")
			return nil
		},
		Act: func(ctx context.Context, run *Run) error {
			s.calls = append(s.calls, "act")
			run.Done(ctx, reasons.Defragmented, "painted it", "main is painted.")
			return run.Held()
		},
		After: func(context.Context, app.Limit) error {
			s.calls = append(s.calls, "after")
			return nil
		},
	}
	return s
}

// holder returns who holds the lock now.
func (s *stage) holder() string {
	spec, _ := s.Get(lease)["spec"].(apitest.Object)
	name, _ := spec["holderIdentity"].(string)
	return name
}

// unfinished writes the journal of a change of members that has not ended.
func (s *stage) unfinished() {
	s.Put(journalPath, apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": journal.Name(o)},
		"data": apitest.Object{"journal.json": `{"operation":"ScaleOut","target":5}`},
	})
}

// secondJudge replaces the judgement under the lock.
func (s *stage) secondJudge(second func() (operate.Plan, error)) {
	first := s.op.Judge
	s.op.Judge = func(ctx context.Context) (operate.Plan, error) {
		plan, err := first(ctx)
		if slices.Index(s.calls, "judge") != len(s.calls)-1 {
			return second()
		}
		return plan, err
	}
}

var errTest = errors.New("the brush broke")

func deniesLock(verb, resource string) bool { return verb == "update" && resource == "leases" }

func deniesLockAndBrushes(verb, resource string) bool {
	return deniesLock(verb, resource) || resource == "brushes"
}

func TestDo(t *testing.T) {
	t.Parallel()
	all := []string{"judge", "judge", "act", "after"}
	for _, row := range []struct {
		name string
		set  func(s *stage)
		// calls are those that must happen, in this order.
		calls []string
		code  int
		// message is a part of the error, shown of what goes to stderr.
		message, shown string
		events         int
	}{
		{name: "done", calls: all, events: 1},
		{name: "dry run of the client asks for no permission", set: func(s *stage) {
			s.flags.DryRun, s.Deny = DryRunClient, func(string, string) bool { return true }
		}, calls: []string{"judge"}, shown: "Nothing was changed (--dry-run=client)."},
		{name: "dry run of the server", set: func(s *stage) { s.flags.DryRun = DryRunServer }, calls: []string{"judge", "dry run"}, shown: "Nothing was changed (--dry-run=server)."},
		{name: "dry run that the API server refuses", set: func(s *stage) {
			s.flags.DryRun, s.op.DryRun = DryRunServer, func(context.Context) error { return errTest }
		}, calls: []string{"judge"}, code: 1, message: "the brush broke"},
		{name: "no terminal to ask for confirmation", set: func(s *stage) { s.flags.yes = false }, calls: []string{"judge"}, code: 2, message: "-y"},
		{name: "no permission", set: func(s *stage) {
			s.Deny = deniesLock
		}, calls: []string{"judge"}, code: 1, message: "leases"},
		{name: "no permission, and the judgement needs more", set: func(s *stage) {
			s.Deny = deniesLockAndBrushes
			s.op.Judge = func(ctx context.Context) (operate.Plan, error) {
				return operate.Plan{}, Require(ctx, s.app, s.cluster, []operate.Need{{Verb: "get", Resource: "brushes", Namespace: "team"}})
			}
		}, code: 1, message: "lacks 2 permissions that this command needs; nothing was changed. Missing:\n" +
			`  verb "update" on "leases.coordination.k8s.io" named "` + lock.Name(o) + `" in namespace "team"` + "\n" +
			`  verb "get" on "brushes" in namespace "team"`},
		{name: "no permission, and the plan needs more", set: func(s *stage) {
			s.Deny = deniesLockAndBrushes
			s.op.Judge = func(context.Context) (operate.Plan, error) {
				return operate.Plan{Title: "paint it", Needs: []operate.Need{{Verb: "get", Resource: "brushes", Namespace: "team"}}}, nil
			}
		}, code: 1, message: "lacks 2 permissions"},
		{name: "no permission, and no cluster", set: func(s *stage) {
			s.cluster, s.op.Verb = nil, ""
			s.Deny = func(_, resource string) bool { return resource == "brushes" }
			s.op.Needs = []operate.Need{{Verb: "get", Resource: "brushes"}}
		}, calls: []string{"judge"}, code: 1, message: "lacks 1 permission"},
		{name: "no permission, and the judgement refuses", set: func(s *stage) {
			s.Deny = deniesLock
			s.op.Judge = func(context.Context) (operate.Plan, error) { return operate.Plan{}, app.Refused("too wet") }
		}, code: 1, message: "lacks 1 permission"},
		{name: "nothing to do", set: func(s *stage) {
			s.op.Judge = func(context.Context) (operate.Plan, error) { return operate.Plan{Already: "main is painted."}, nil }
			s.op.Already = func(context.Context) error {
				s.calls = append(s.calls, "already")
				return nil
			}
		}, calls: []string{"already"}, shown: "main is painted.\n"},
		{name: "nothing to do in a dry run", set: func(s *stage) {
			s.flags.DryRun = DryRunServer
			s.op.Judge = func(context.Context) (operate.Plan, error) { return operate.Plan{Already: "main is painted."}, nil }
			s.op.Already = func(context.Context) error { return errTest }
		}, shown: "main is painted.\n"},
		{name: "no permission that the plan needs", set: func(s *stage) {
			s.Deny = func(_, resource string) bool { return resource == "brushes" }
			s.op.Judge = func(context.Context) (operate.Plan, error) {
				return operate.Plan{Title: "paint it", Needs: []operate.Need{{Verb: "get", Resource: "brushes", Namespace: "team"}}}, nil
			}
		}, code: 1, message: "brushes"},
		{name: "refused at once", set: func(s *stage) {
			s.op.Judge = func(context.Context) (operate.Plan, error) { return operate.Plan{}, app.Refused("too wet") }
		}, code: 2, message: "too wet"},
		{name: "unfinished change of members", set: (*stage).unfinished, code: 2, message: "has been unfinished since"},
		{name: "unfinished change of members, cured by this", set: func(s *stage) { s.unfinished(); s.op.AllowsUnfinished = true }, calls: all, events: 1},
		{name: "a change of members begins while the user reads", set: func(s *stage) {
			judge := s.op.Judge
			s.op.Judge = func(ctx context.Context) (operate.Plan, error) { s.unfinished(); return judge(ctx) }
		}, calls: []string{"judge"}, code: 2, message: "has been unfinished since"},
		{name: "another plan under the lock", set: func(s *stage) {
			s.secondJudge(func() (operate.Plan, error) { return operate.Plan{Title: "paint another"}, nil })
		}, calls: []string{"judge", "judge"}, code: 2, message: planChanged},
		{name: "another subject under the lock", set: func(s *stage) {
			s.secondJudge(func() (operate.Plan, error) {
				return operate.Plan{Title: "paint it", Steps: []string{"take a brush"}, Subject: "another wall"}, nil
			})
		}, calls: []string{"judge", "judge"}, code: 2, message: planChanged},
		{name: "another step under the lock", set: func(s *stage) {
			s.secondJudge(func() (operate.Plan, error) {
				return operate.Plan{Title: "paint it", Steps: []string{"take a roller"}}, nil
			})
		}, calls: []string{"judge", "judge"}, code: 2, message: planChanged},
		{name: "a new warning under the lock", set: func(s *stage) {
			s.secondJudge(func() (operate.Plan, error) {
				return operate.Plan{Title: "paint it", Steps: []string{"take a brush"}, Warnings: []string{"It rains."}}, nil
			})
		}, calls: []string{"judge", "judge"}, code: 2, message: planChanged},
		{name: "another object under the lock", set: func(s *stage) {
			judge := s.op.Judge
			s.op.Judge = func(ctx context.Context) (operate.Plan, error) {
				operatetest.Field(s.Get(operatetest.Path("StatefulSet", "main")), "metadata")["uid"] = "another"
				return judge(ctx)
			}
		}, calls: []string{"judge"}, code: 2, message: planChanged},
		{name: "nothing left to do under the lock", set: func(s *stage) {
			s.secondJudge(func() (operate.Plan, error) { return operate.Plan{Already: "main is painted."}, nil })
		}, calls: []string{"judge", "judge"}, code: 2, message: planChanged},
		{name: "refused under the lock", set: func(s *stage) {
			s.secondJudge(func() (operate.Plan, error) { return operate.Plan{}, app.Refused("it rains") })
		}, calls: []string{"judge", "judge"}, code: 2, message: "it rains"},
		{name: "--wait=false of an operation that can't continue alone", set: func(s *stage) { s.flags.Wait = false }, code: 1, message: "--wait=false"},
		{name: "--wait=false of an operation that continues alone", set: func(s *stage) { s.flags.Wait, s.op.Detaches = false, true }, calls: all, events: 1},
		{name: "the act fails", set: func(s *stage) {
			s.op.Act = func(context.Context, *Run) error { return errTest }
		}, calls: []string{"judge", "judge"}, code: 1, message: "the brush broke"},
		{name: "out of time, with the lock", set: func(s *stage) {
			s.flags.Timeout = 3 * time.Second
			s.op.Act = func(ctx context.Context, run *Run) error {
				<-ctx.Done()
				if err := run.Held(); err != nil {
					return err // an operation must be undone under the lock
				}
				return context.Cause(ctx)
			}
		}, calls: []string{"judge", "judge"}, code: 124, message: "paint it: not done within the --timeout of 3s"},
		{name: "the Event is refused", set: func(s *stage) {
			s.Refuse = func(method, path string) int {
				if method == http.MethodPost && path == events {
					return http.StatusForbidden
				}
				return 0
			}
		}, calls: all, shown: "Warning: record an Event"},
		{name: "no cluster, no lock", set: func(s *stage) {
			s.cluster, s.op.Verb = nil, ""
			s.op.Act = func(_ context.Context, run *Run) error {
				s.calls = append(s.calls, "act")
				return run.Held()
			}
		}, calls: all},
		{name: "another plan, no cluster", set: func(s *stage) {
			s.cluster, s.op.Verb, s.op.Subject = nil, "", "the installation"
			s.secondJudge(func() (operate.Plan, error) { return operate.Plan{Title: "paint another"}, nil })
		}, calls: []string{"judge", "judge"}, code: 2, message: "the installation " + planChanged},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if row.set != nil {
				row.set(s)
			}
			err := Do(t.Context(), s.app, s.cluster, s.flags, s.op)
			code, _ := app.Outcome(t.Context(), err)
			if code != row.code || err != nil && !strings.Contains(err.Error(), row.message) {
				t.Errorf("exit code %d, %v; want %d, %q", code, err, row.code, row.message)
			}
			if !slices.Equal(s.calls, row.calls) {
				t.Errorf("calls are %q, want %q", s.calls, row.calls)
			}
			if !strings.Contains(s.err.String(), row.shown) {
				t.Errorf("stderr lacks %q:\n%s", row.shown, &s.err)
			}
			if holder := s.holder(); holder != "" {
				t.Errorf("the lock is still held by %q", holder)
			}
			written := slices.DeleteFunc(s.Paths(), func(p string) bool { return !strings.HasPrefix(p, events) })
			if len(written) != row.events {
				t.Errorf("%d Events, want %d", len(written), row.events)
			}
		})
	}
}

// TestDoOrder: the lock is held from before the judgement until after the Event.
func TestDoOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var held []bool
	judge := s.op.Judge
	s.op.Judge = func(ctx context.Context) (operate.Plan, error) {
		held = append(held, s.holder() != "")
		return judge(ctx)
	}
	if err := Do(t.Context(), s.app, s.cluster, s.flags, s.op); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(held, []bool{false, true}) {
		t.Errorf("held at the judgements: %t", held)
	}
	writes := s.Writes()
	want := []string{"POST " + strings.TrimSuffix(lease, "/"+lock.Name(o)), "POST " + events}
	if len(writes) < 3 || !slices.Equal(writes[:2], want) || !strings.HasSuffix(writes[len(writes)-1], lease) {
		t.Errorf("writes are %q, want %q and the release", writes, want)
	}
	if got := s.out.String(); got != "main is painted.\n" {
		t.Errorf("stdout is %q", got)
	}
}

// TestDoInterrupted: a change that was made before Ctrl-C is recorded, and the lock is free.
func TestDoInterrupted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s.op.Act = func(ctx context.Context, run *Run) error {
		interrupt()
		run.Done(ctx, reasons.Defragmented, "painted half of it", "")
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err := Do(ctx, s.app, s.cluster, s.flags, s.op)
	if code, _ := app.Outcome(ctx, err); code != 130 {
		t.Errorf("exit code %d: %v", code, err)
	}
	if holder := s.holder(); holder != "" {
		t.Errorf("the lock is still held by %q", holder)
	}
	if slices.IndexFunc(s.Paths(), func(p string) bool { return strings.HasPrefix(p, events) }) < 0 {
		t.Error("no Event")
	}
}

// TestDoAfterNearLimit: a change whose effect is seen just before the limit is done.
func TestDoAfterNearLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.flags.Timeout = nearLimit // so the limit is near from the beginning
	s.op.After = func(context.Context, app.Limit) error { return nil }
	if err := Do(t.Context(), s.app, s.cluster, s.flags, s.op); err != nil {
		t.Error(err)
	}
}

// TestDoNotActOnLostLock: nothing is done once another holder has the lock.
func TestDoNotActOnLostLock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.secondJudge(func() (operate.Plan, error) {
		stolen := s.Get(lease)
		stolen["spec"].(apitest.Object)["holderIdentity"] = "mallory" //nolint:forcetypeassert // written by the lock
		s.Put(lease, stolen)
		return operate.Plan{Title: "paint it", Steps: []string{"take a brush"}}, nil
	})
	s.op.Act = func(ctx context.Context, run *Run) error {
		<-ctx.Done() // the renewal notices
		return run.Held()
	}
	s.flags.Timeout = 30 * time.Second
	err := Do(t.Context(), s.app, s.cluster, s.flags, s.op)
	if !app.Is[*lock.LostError](err) || s.holder() != "mallory" {
		t.Errorf("%v, the lock is held by %q", err, s.holder())
	}
}
