// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// killedAfter judges and acts, and refuses all writes after the first n. It reports whether all were made.
func (s *stage) killedAfter(t *testing.T, a Action, n int) bool {
	t.Helper()
	s.job.Action, s.job.Owner.Annotations = a, s.annotations()
	if _, err := s.job.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Refuse = func(method, _ string) int {
		if method == http.MethodGet {
			return 0
		}
		if n--; n < 0 {
			return http.StatusForbidden
		}
		return 0
	}
	err := s.job.Act(t.Context())
	s.Refuse = nil
	return err == nil
}

// jobs returns the paths of the Jobs.
func (s *stage) jobs() []string {
	return slices.DeleteFunc(s.Paths(), func(p string) bool { return !strings.Contains(p, "/jobs/") })
}

// end gives the Jobs a condition.
func (s *stage) end(condition, reason string) {
	for _, path := range s.jobs() {
		job := s.Get(path)
		job["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": condition, "status": "True", "reason": reason}}}
		s.Put(path, job)
	}
}

// TestKilled: whatever a command has written when it is killed, the same command takes a first snapshot, and --delete
// leaves nothing.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, changes := range []bool{false, true} {
		for n, all := 0, false; !all; n++ {
			s := newStage(t)
			if changes {
				s.start(t, Set)
				s.end("Complete", "")
				if _, err := s.job.Await(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.Remove(s.jobs()[0])
				s.job.Spec.Keep, s.job.Spec.Every = 7, 2*s.job.Spec.Every
			}
			all = s.killedAfter(t, Set, n)
			s.start(t, Set)
			if jobs := s.jobs(); len(jobs) != 1 {
				t.Errorf("changes %t, killed after %d writes: the same command took the first snapshots %q", changes, n, jobs)
			}
			s.end("Complete", "")
			if stored, err := s.job.Await(t.Context()); !stored || err != nil {
				t.Errorf("changes %t, killed after %d writes: stored %t, %v", changes, n, stored, err)
			}
			if p := s.start(t, Set); p.Already == "" {
				t.Errorf("changes %t, killed after %d writes: the third command has the steps %q", changes, n, p.Steps)
			}
		}
	}
}

// TestDeleteKilled: a schedule that was created or deleted in part is deleted by --delete, its permissions too.
func TestDeleteKilled(t *testing.T) {
	t.Parallel()
	for _, killed := range []Action{Set, Delete} {
		for n, all := 0, false; !all; n++ {
			s := newStage(t)
			if killed == Delete {
				s.start(t, Set)
			}
			all = s.killedAfter(t, killed, n)
			s.do(t, Delete)
			left := slices.DeleteFunc(s.Paths(), func(p string) bool { return !strings.Contains(p, name) || strings.Contains(p, "/jobs/") })
			if a := s.annotations(); len(left) > 0 || len(a) > 0 {
				t.Errorf("%s killed after %d writes: %q is left, and %v", killed, n, left, a)
			}
			if p := s.do(t, Delete); p.Already == "" {
				t.Errorf("%s killed after %d writes: deleted twice: %q", killed, n, p.Steps)
			}
		}
	}
}

// TestFirstAgain: a first snapshot that failed is taken again by another Job, one that is taken is awaited, and one
// whose Job belongs to another object counts for nothing. Without --wait it is not awaited later.
func TestFirstAgain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		after func(*testing.T, *stage)
		jobs  int
		step  string
	}{
		{"it runs", func(*testing.T, *stage) {}, 1, "wait for the first snapshot, which Job "},
		{"it failed", func(_ *testing.T, s *stage) { s.end("Failed", "BackoffLimitExceeded") }, 2, "take the first snapshot now"},
		{"it is stored, and old ones stay", func(_ *testing.T, s *stage) { s.end("Failed", "PodFailurePolicy") }, 1, "wait for the first snapshot, which Job "},
		{"another one has its name", func(_ *testing.T, s *stage) {
			job := s.Get(s.jobs()[0])
			delete(operatetest.Field(job, "metadata"), "ownerReferences")
			s.Put(s.jobs()[0], job)
		}, 2, "take the first snapshot now"},
		{"without --wait", func(t *testing.T, s *stage) {
			t.Helper()
			if err := s.job.EndFirst(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, 1, ""},
	} {
		s := newStage(t)
		s.start(t, Set)
		row.after(t, s)
		s.job.Clock = &operatetest.HastyClock{Time: s.job.Clock.Now().Add(1e9)}
		p := s.start(t, Set)
		if jobs := s.jobs(); len(jobs) != row.jobs || !strings.Contains(strings.Join(p.Steps, "; "), row.step) || (row.step == "") != (p.Already != "") {
			t.Errorf("%s: the steps are %q, %s, with the Jobs %q", row.name, p.Steps, p.Already, jobs)
		}
	}
}

// TestEndFirst: only the name of the Job of this command is removed from the CronJob.
func TestEndFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.start(t, Set)
	first := s.job.first
	s.job.first = "of-another-command"
	if err := s.job.EndFirst(t.Context()); err != nil || !strings.Contains(s.cronJob(t), `"kubectl-etcd.dev/snapshot-first-job":"`+first) {
		t.Errorf("%v: %s", err, s.cronJob(t))
	}
	s.job.first = first
	s.Refuse = func(string, string) int { return http.StatusForbidden }
	if err := s.job.EndFirst(t.Context()); err == nil {
		t.Error("a refused write is no error")
	}
}
