// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/types"
)

// IsEtcd reports whether a program is etcd. Druid's members run in the process of etcd-wrapper.
func IsEtcd(program string) bool {
	return program == "etcd" || strings.HasPrefix(program, "etcd-wrapper")
}

// Processes returns the processes of a pod that run such a program. The processes of all nodes
// run on this machine.
func Processes(pod types.UID, runs func(program string) bool) ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		groups, err := os.ReadFile(file) //nolint:gosec // a file of the kernel
		if err != nil || !strings.Contains(strings.ReplaceAll(string(groups), "_", "-"), string(pod)) {
			continue // the process has ended, or belongs to another pod
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
		if err != nil || !runs(strings.TrimSpace(string(name))) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// Freeze stops the processes of a pod that run such a program, until thaw is called. A pod
// without such a process is an error.
func Freeze(pod types.UID, runs func(program string) bool) (thaw func(), err error) {
	pids, err := Signal(pod, runs, syscall.SIGSTOP)
	thaw = func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT) // the process may have ended
		}
	}
	if err != nil {
		thaw()
		return nil, err
	}
	return thaw, nil
}

// errNoProcess is the error if a pod has no process to send a signal to.
var errNoProcess = errors.New("no such process")

// Signal sends a signal to the processes of a pod that run such a program, and returns them. A
// pod without such a process is an error.
func Signal(pod types.UID, runs func(program string) bool, signal syscall.Signal) ([]int, error) {
	pids, err := Processes(pod, runs)
	if err != nil {
		return nil, err
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("send %s to pod %s: %w", signal, pod, errNoProcess)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, signal); err != nil {
			return pids, fmt.Errorf("send %s to process %d: %w", signal, pid, err)
		}
	}
	return pids, nil
}
