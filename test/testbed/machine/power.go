// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Shutdown ends the machine as a computer's shutdown does. It may take stopGrace
// for each of its programs, usually a second.
func (s *Spec) Shutdown(ctx context.Context) error {
	if s.Running() == 0 {
		return nil
	}
	if err := s.Resume(); err != nil {
		return err
	}
	if _, err := s.order(ctx, http.MethodPost, "/shutdown"); err != nil {
		return s.PowerOff(ctx) // it hasn't come so far as to take orders
	}
	return s.waitOff(ctx)
}

// PowerOff ends every process of the machine at once, as a power cut does.
func (s *Spec) PowerOff(ctx context.Context) error {
	pid := s.Running()
	if pid == 0 {
		return nil
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	if err := s.Resume(); err != nil { // a frozen process dies only when it thaws
		return err
	}
	return s.waitOff(ctx)
}

func (s *Spec) waitOff(ctx context.Context) error {
	for s.Running() != 0 || len(cgroupProcesses(s.cgroup())) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of machine %s: %w", s.Name, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// Pause freezes every process of the machine. Its kernel still answers: pings
// return and connections stay open.
func (s *Spec) Pause() error {
	if s.Running() == 0 {
		return fmt.Errorf("pause %s: it is off", s.Name)
	}
	return setFrozen(s.cgroup(), true)
}

// Resume undoes Pause, if there was one.
func (s *Spec) Resume() error {
	if !s.Paused() {
		return nil
	}
	return setFrozen(s.cgroup(), false)
}

// Paused reports whether the machine is frozen.
func (s *Spec) Paused() bool { return isFrozen(s.cgroup()) }

// Destroy ends every process of a testbed and removes its links and cgroups,
// whatever state they are in and whether or not any file lists them. It
// spares the caller and its parents.
func Destroy(ctx context.Context, testbed string) error {
	path := CgroupOf(testbed)
	spared := ancestors()
	for {
		pids := cgroupProcesses(path)
		for _, m := range find(testbed) {
			pids = append(pids, m.pid)
		}
		pids = slices.DeleteFunc(pids, func(pid int) bool { return slices.Contains(spared, pid) })
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		thawAll(path)
		select {
		case <-ctx.Done():
			return fmt.Errorf("end the processes of testbed %s: %d left: %w", testbed, len(pids), ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := removeLinks(testbed); err != nil {
		return err
	}
	return retryRemove(ctx, path)
}

// thawAll undoes every Pause: a frozen process can't die.
func thawAll(path string) {
	for _, dir := range cgroupDirs(path) {
		for file, value := range map[string]string{"/freezer.state": "THAWED", "/cgroup.freeze": "0"} {
			if _, err := os.Stat(dir + file); err == nil {
				_ = os.WriteFile(dir+file, []byte(value), 0)
			}
		}
	}
}

// retryRemove waits for the kernel, which releases a cgroup a moment after
// its last process.
func retryRemove(ctx context.Context, path string) error {
	for {
		err := removeCgroup(path)
		if err == nil || !errors.Is(err, unix.EBUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}
