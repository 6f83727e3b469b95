// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSupervisor starts, stops and loses programs as a machine does. The reaper
// takes every child of this process, so that no other test here may have one.
func TestSupervisor(t *testing.T) {
	dir := t.TempDir()
	gate, deaf := filepath.Join(dir, "gate"), filepath.Join(dir, "deaf")
	spec := &Spec{Name: "m", Dir: dir, Shared: filepath.Join(dir, "shared"), Processes: []Process{
		{Name: "steady", Args: []string{"/bin/sleep", "1000"}},
		{Name: "stubborn", Args: []string{"/bin/sh", "-c", "trap '' TERM; touch " + deaf + "; while :; do sleep 0.1; done"}, Grace: 300 * time.Millisecond},
		{Name: "waiting", Args: []string{"/bin/sleep", "1000"}, WaitFor: []string{gate}},
		{Name: "missing", Args: []string{"/no/such/program"}},
	}}
	if err := spec.Save(); err != nil {
		t.Fatal(err)
	}
	v := newSupervisor(spec)
	v.log = io.Discard
	v.expect(t, map[string]bool{"steady": true, "stubborn": true, "waiting": false, "missing": false})
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.expect(t, map[string]bool{"waiting": true})

	pid := v.programs[0].pid
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// It is down for a second only, which may go unseen.
	poll(t, "steady to restart", func() bool { return v.statuses()[0].Restarts > 0 })
	v.expect(t, map[string]bool{"steady": true})
	if s := v.statuses()[0]; s.Restarts != 1 || s.LastExit != "killed" {
		t.Errorf("after it was killed: %+v", s)
	}
	poll(t, "stubborn to be deaf", func() bool { _, err := os.Stat(deaf); return err == nil })
	for _, name := range []string{"steady", "stubborn", "waiting", "missing"} {
		if err := v.obey(name, "stop"); err != nil {
			t.Fatal(err)
		}
	}
	v.expect(t, map[string]bool{"steady": false, "stubborn": false, "waiting": false})
	time.Sleep(restartDelay + 200*time.Millisecond)
	v.expect(t, map[string]bool{"steady": false})
	if err := v.obey("steady", "start"); err != nil {
		t.Fatal(err)
	}
	v.expect(t, map[string]bool{"steady": true})
	if s := v.statuses()[0]; s.Restarts != 0 {
		t.Errorf("a start that was asked for counts as a restart: %+v", s)
	}
	if err := v.obey("steady", "kill"); err != nil {
		t.Fatal(err)
	}
	if v.obey("steady", "dance") == nil || v.obey("unknown", "stop") == nil {
		t.Error("orders that make no sense are obeyed")
	}
}

// expect waits for programs to run or not.
func (v *supervisor) expect(t *testing.T, want map[string]bool) {
	t.Helper()
	poll(t, fmt.Sprintf("programs to run, or not: %v", want), func() bool {
		return !slices.ContainsFunc(v.statuses(), func(s Status) bool {
			run, ok := want[s.Name]
			return ok && run != s.Running
		})
	})
}

func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 6000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("a minute was not enough for %s", what)
}
