// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"io"
	"os"
	"path/filepath"
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
	for range expectations { // it is down for a second only, which may go unseen
		if v.statuses()[0].Restarts > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	v.expect(t, map[string]bool{"steady": true})
	if s := v.statuses()[0]; s.Restarts != 1 || s.LastExit != "killed" {
		t.Errorf("after it was killed: %+v", s)
	}
	awaitFile(t, deaf)
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
	if v.obey("steady", "dance") == nil || v.obey("nobody", "stop") == nil {
		t.Error("orders that make no sense are obeyed")
	}
}

// expectations are how often is looked for what should come, every ten milliseconds.
const expectations = 6000

// expect waits for programs to run or not.
func (v *supervisor) expect(t *testing.T, want map[string]bool) {
	t.Helper()
	var last string
	for range expectations {
		last = ""
		for _, s := range v.statuses() {
			if run, ok := want[s.Name]; ok && run != s.Running {
				last = s.Name
			}
		}
		if last == "" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: running is not %t", last, want[last])
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range expectations {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: nobody has made it", path)
}
