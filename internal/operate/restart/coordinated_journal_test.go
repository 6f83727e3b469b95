// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// replicasAre requires the replicas of the StatefulSet.
func (c *stage) replicasAre(t *testing.T, what string, want int) {
	t.Helper()
	if n := operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"]; fmt.Sprint(n) != fmt.Sprint(want) {
		t.Errorf("%s: %v replicas, want %d", what, n, want)
	}
}

// onJournal calls a function before each write of the journal from the first-th on, which returns how the
// write is refused. The returned function ends that.
func (c *stage) onJournal(first int, refuse func() int) (end func()) {
	before, path := c.Refuse, operatetest.Path("ConfigMap", "kubectl-etcd-main")
	n := 0
	c.Refuse = func(method, at string) int {
		if code := before(method, at); code != 0 {
			return code
		}
		if method != http.MethodPatch || at != path {
			return 0
		}
		if n++; n < first {
			return 0
		}
		return refuse()
	}
	return func() { c.Refuse = before }
}

// TestCoordinatedUnrecorded: a phase that the journal can't record does not begin, so --abort ends the
// restart as before it.
func TestCoordinatedUnrecorded(t *testing.T) {
	t.Parallel()
	for first, replicas := range map[int]int{1: 3, 2: 0} {
		for _, code := range []int{http.StatusGatewayTimeout, http.StatusInternalServerError} {
			what := fmt.Sprintf("write %d of the phase fails with %d", first, code)
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				c := newTogether(t)
				j := c.together(t)
				r, _, err := j.PlanCoordinated(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := j.Begin(t.Context(), r, false); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				failed := 0
				end := c.onJournal(first, func() int {
					if failed++; failed == 3 {
						cancel()
					}
					return code
				})
				phase := r.Together.Phase
				if first == 2 {
					phase = rules.Stopping
				}
				if _, err := j.Run(ctx, r); err == nil || r.Together.Phase != phase {
					t.Errorf("the error is %v, and the phase %s", err, r.Together.Phase)
				}
				c.replicasAre(t, what, replicas)
				end()
				if err := c.continueTogether(t, true, 0); err != nil {
					t.Error(err)
				}
				c.asBefore(t, what)
			})
		}
	}
}

// TestCoordinatedJournalLost: without its journal, or with another client's, a restart halts before the
// next phase, and the error has the commands that end it.
func TestCoordinatedJournalLost(t *testing.T) {
	t.Parallel()
	path := operatetest.Path("ConfigMap", "kubectl-etcd-main")
	for name, row := range map[string]struct {
		change func(c *stage)
		want   string
	}{
		"deleted": {func(c *stage) { c.Remove(path) }, "kubectl annotate statefulset main -n team kubectl-etcd.dev/restart-; kubectl scale statefulset main -n team --replicas 3; kubectl etcd restore-client-traffic statefulset/main -n team"},
		"changed": {func(c *stage) {
			kept := c.Get(path)
			kept["data"] = apitest.Object{"journal.json": `{"kind":"restart","payload":{}}`}
			c.Put(path, kept)
		}, "another process has changed it"},
	} {
		for first, replicas := range map[int]int{1: 3, 2: 0} {
			t.Run(fmt.Sprintf("%s before phase %d", name, first), func(t *testing.T) {
				t.Parallel()
				c := newTogether(t)
				j := c.together(t)
				r, _, err := j.PlanCoordinated(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := j.Begin(t.Context(), r, false); err != nil {
					t.Fatal(err)
				}
				c.onJournal(first, func() int { row.change(c); return 0 })
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := j.Run(ctx, r); !errors.As(err, new(*operate.HaltedError)) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("the error is %v", err)
				}
				c.replicasAre(t, name, replicas)
			})
		}
	}
}

// forge writes a journal that no restart has written.
func (c *stage) forge(t *testing.T, j *Job, phase rules.Phase, size int) {
	t.Helper()
	r := &Record{Strategy: Coordinated, Pods: map[string]types.UID{}, Together: &Together{Phase: phase, Replicas: size}}
	s, err := j.observe(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.pods {
		r.Pods[p.Name] = p.UID
	}
	if err := r.create(t.Context(), c.Kube, s.sets[0], false); err != nil {
		t.Fatal(err)
	}
}

// TestCoordinatedForged: a journal of a user who can't write the StatefulSet changes no replicas.
func TestCoordinatedForged(t *testing.T) {
	t.Parallel()
	for _, phase := range []rules.Phase{rules.Scheduled, rules.Stopping, rules.Starting} {
		for _, size := range []int{-1, 0, 1, 3, 5} {
			for _, abort := range []bool{false, true} {
				if phase != rules.Starting && size == 3 && !abort {
					continue // it is the journal of a restart that has stopped no member, and continues
				}
				what := fmt.Sprintf("%s with size %d, abort %t", phase, size, abort)
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					forged(t, phase, size, abort)
				})
			}
		}
	}
}

func forged(t *testing.T, phase rules.Phase, size int, abort bool) {
	t.Helper()
	c := newTogether(t)
	before := c.uids()
	j := c.together(t)
	j.Abort = abort
	c.forge(t, j, phase, size)
	r, err := Read(t.Context(), j.Kube, j.Owner)
	if size < 1 {
		if err == nil || !strings.Contains(err.Error(), "kubectl delete configmap kubectl-etcd-main -n team") {
			t.Errorf("the error is %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	awaited := 0
	j.Logf = func(format string, _ ...any) {
		if awaited++; awaited > 3 || strings.HasPrefix(format, "…") {
			cancel() // what is awaited doesn't come
		}
	}
	_, err = j.Run(ctx, r)
	if halted := errors.As(err, new(*operate.HaltedError)); halted != (size > 3 && (abort || phase != rules.Scheduled)) {
		t.Errorf("the error is %v", err)
	}
	c.replicasAre(t, "forged", 3)
	if now := c.uids(); strings.Join(now, " ") != strings.Join(before, " ") {
		t.Errorf("pods %v, then %v", before, now)
	}
}

// TestCoordinatedTampered: while the members are stopped, the mark has the phase and the size.
func TestCoordinatedTampered(t *testing.T) {
	t.Parallel()
	path := operatetest.Path("ConfigMap", "kubectl-etcd-main")
	for _, abort := range []bool{false, true} {
		for _, phase := range []rules.Phase{rules.Scheduled, rules.Stopping, rules.Starting} {
			t.Run(fmt.Sprintf("%s, abort %t", phase, abort), func(t *testing.T) {
				t.Parallel()
				c := newTogether(t)
				end := c.onJournal(2, func() int { return http.StatusForbidden })
				_ = c.beginTogether(t, 0)
				c.replicasAre(t, "stopped", 0)
				kept := c.Get(path)
				data := operatetest.Field(kept, "data")
				text := strings.ReplaceAll(fmt.Sprint(data["journal.json"]), `"replicas": 3`, `"replicas": 1`)
				data["journal.json"] = strings.ReplaceAll(text, string(rules.Stopping), string(phase))
				if !strings.Contains(fmt.Sprint(data), `"replicas": 1`) {
					t.Errorf("the journal is %v", data)
				}
				c.Put(path, kept)
				end()
				if err := c.continueTogether(t, abort, 0); err != nil {
					t.Error(err)
				}
				c.asBefore(t, "tampered")
			})
		}
	}
}

// TestCoordinatedMarked: no restart begins on a StatefulSet with the mark of an earlier one.
func TestCoordinatedMarked(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"stop-coordinated with 3 replicas at 2026-02-01T00:00:00Z", "stop-coordinated at noon", "stop-coordinated with 0 replicas at noon"} {
		c := newTogether(t)
		sts := c.Get(operatetest.Path("StatefulSet", "main"))
		operatetest.Field(sts, "metadata")["annotations"] = apitest.Object{"kubectl-etcd.dev/restart": mark}
		c.Put(operatetest.Path("StatefulSet", "main"), sts)
		j := c.together(t)
		if _, _, err := j.PlanCoordinated(t.Context()); err == nil || !strings.Contains(err.Error(), "kubectl annotate statefulset main -n team kubectl-etcd.dev/restart-") {
			t.Errorf("%s: the error is %v", mark, err)
		}
	}
}
