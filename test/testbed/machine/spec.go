// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package machine makes one machine of a testbed: a process tree in namespaces
// of its own (network, process ids, mounts, host name, IPC, cgroups) with its
// own /var and /run, whose first process starts, watches and stops the
// machine's programs.
//
// Nothing of a machine is seen on the host but its processes and its cgroup:
// its mounts and network links live in its namespaces and end with its first
// process, so that no crash can leave them behind. The package knows nothing of
// Kubernetes; package testbed chooses what it runs.
package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Spec is what a machine needs to boot. It is kept in a file beside the
// machine's data, so that any process can start the machine again.
type Spec struct {
	Testbed string
	Name    string // the machine's name and host name
	// Dir is the testbed's run directory, seen inside at the same path.
	Dir string
	// Shared is a directory on the host that all machines see as SharedPath.
	Shared  string
	Address string // with prefix length, such as 10.89.0.11/24
	// Switch makes the machine's own network device a bridge that the other
	// machines are plugged into.
	Switch bool
	Routes []Route
	// Share is how much of busy processors the machine gets, as a multiple of what another
	// machine of the testbed gets. 0 means 1.
	Share int
	// Covers are files that shall read so inside, by path. Files of ours are
	// laid over them, and they are never written: they belong to the host. What
	// the host doesn't have is left out.
	Covers    map[string]string
	Processes []Process // in the order of their start; stopped in reverse
}

// Route sends packets for a network to another machine.
type Route struct{ To, Via string }

// Process is a program that the machine keeps running.
type Process struct {
	Name string
	Args []string // Args[0] is the program's absolute path
	Env  []string // added to the machine's own
	// WaitFor are files that must be there, and addresses (https://...) that
	// must answer 200, before the program is started.
	WaitFor []string
	// Grace is how long the program may take to end after a request, before it is
	// killed; stopGrace when 0.
	Grace time.Duration
}

// SharedPath is where every machine shows the testbed's shared directory.
const SharedPath = "/var/shared"

// Home returns the directory that holds the machine's data.
func (s *Spec) Home() string { return filepath.Join(s.Dir, "machines", s.Name) }

// Log returns the file that takes a program's output; the empty name stands
// for the machine itself.
func (s *Spec) Log(process string) string {
	if process == "" {
		process = "machine"
	}
	return filepath.Join(s.Dir, "logs", s.Name, process+".log")
}

func (s *Spec) file() string   { return filepath.Join(s.Home(), "machine.json") }
func (s *Spec) socket() string { return filepath.Join(s.Home(), "control.sock") }
func (s *Spec) cgroup() string { return filepath.Join(CgroupOf(s.Testbed), s.Name) }

// Save writes the Spec to its file and makes the machine's directories.
func (s *Spec) Save() error {
	for _, dir := range []string{filepath.Join(s.Home(), "var"), filepath.Dir(s.Log("")), s.Shared} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.file(), data, 0o600)
}

// Load reads the Spec of a machine whose testbed has its run directory at dir.
func Load(dir, name string) (*Spec, error) {
	s := &Spec{Dir: dir, Name: name}
	data, err := os.ReadFile(s.file())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.file(), err)
	}
	return s, nil
}
