// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Every process of a testbed carries these in its environment, so that it can
// be found when every file that might name it is gone.
const (
	markTestbed = "KUBECTL_ETCD_TESTBED"
	markMachine = "KUBECTL_ETCD_TESTBED_MACHINE"
	markDir     = "KUBECTL_ETCD_TESTBED_DIR"
)

// Mark returns the environment variable that marks a process as a testbed's
// own, so that Destroy ends it too.
func Mark(testbed string) (key, value string) { return markTestbed, testbed }

// marked is a process that belongs to a testbed.
type marked struct {
	pid     int
	testbed string
	machine string // empty for a process that is in no machine
	dir     string
	first   bool // process 1 of its machine
}

// find returns the processes that a testbed's mark is on; all testbeds' when
// the name is empty. A process that goes away meanwhile is left out.
func find(testbed string) []marked {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []marked
	for _, dir := range dirs {
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(environ, []byte(markTestbed+"=")) {
			continue
		}
		env := parseEnviron(environ)
		if env[markTestbed] == "" || testbed != "" && env[markTestbed] != testbed {
			continue
		}
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil || isZombie(status) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found = append(found, marked{pid, env[markTestbed], env[markMachine], env[markDir], isFirst(status)})
	}
	return found
}

func parseEnviron(environ []byte) map[string]string {
	env := map[string]string{}
	for entry := range strings.SplitSeq(string(environ), "\x00") {
		if key, value, ok := strings.Cut(entry, "="); ok {
			env[key] = value
		}
	}
	return env
}

// isFirst reports whether the process of a /proc/PID/status is number 1 of a namespace below ours.
func isFirst(status []byte) bool {
	ids := strings.Fields(statusField(status, "NSpid"))
	return len(ids) == 2 && ids[1] == "1" // a third would be of a container
}

func isZombie(status []byte) bool { return strings.HasPrefix(statusField(status, "State"), "Z") }

func statusField(status []byte, key string) string {
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Running returns the process id of the machine's first process, 0 when the
// machine is off.
func (s *Spec) Running() int {
	for range 100 {
		for _, m := range find(s.Testbed) {
			if m.first && m.machine == s.Name {
				return m.pid
			}
		}
		if len(cgroupProcesses(s.cgroup())) == 0 {
			return 0
		}
		// A process shows no environment in the moment in which it becomes
		// another program.
		time.Sleep(5 * time.Millisecond)
	}
	return 0
}

// Testbeds returns the testbeds that have processes on this host, and the run
// directory of each.
func Testbeds() map[string]string {
	found := map[string]string{}
	for _, m := range find("") {
		if m.first {
			found[m.testbed] = m.dir
		}
	}
	return found
}

// ancestors returns the caller and its parents, which Destroy must spare.
func ancestors() []int {
	var pids []int
	for pid := os.Getpid(); pid > 1 && !slices.Contains(pids, pid); {
		pids = append(pids, pid)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			break
		}
		pid, _ = strconv.Atoi(statusField(status, "PPid"))
	}
	return pids
}
