// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// allTestbeds is the share of busy processors that all testbeds get together, in processes outside
// of them. With less, members appear dead while a compiler runs. With more, the plugin that a test
// starts waits too long.
const allTestbeds = 8

// Boot starts the machine and connects it to the switch (nil when it is the
// switch itself). helper is a program that calls Main when its arguments are
// "machine [--inside] DIR NAME".
func (s *Spec) Boot(ctx context.Context, helper string, sw *Spec, cut bool) error {
	// The cgroups of the boot before would be taken for containers that run.
	if err := retryRemove(ctx, s.cgroup()); err != nil {
		return err
	}
	if err := makeCgroup(s.cgroup()); err != nil {
		return err
	}
	// The tests, and what is compiled beside them, are outside of any cgroup.
	if err := shareProcessors(filepath.Dir(CgroupOf(s.Testbed)), allTestbeds); err != nil {
		return err
	}
	if err := shareProcessors(s.cgroup(), max(s.Share, 1)); err != nil {
		return err
	}
	_ = os.Remove(s.socket()) // of the boot before
	log, err := os.OpenFile(s.Log(""), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(helper, "machine", s.Dir, s.Name)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{
		"PATH=" + filepath.Join(s.Dir, "libexec") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", markTestbed + "=" + s.Testbed, markMachine + "=" + s.Name, markDir + "=" + s.Dir,
	}
	// Network, mounts and the rest begin with the process and end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	if sw != nil {
		// Its id is known from here: a process that has only just begun shows
		// no environment yet, so that Running may not find it.
		if err := s.plug(ctx, cmd.Process.Pid, sw, cut); err != nil {
			return err
		}
	}
	return s.waitUp(ctx, died)
}

// waitUp waits for the machine's first process to take orders.
func (s *Spec) waitUp(ctx context.Context, died <-chan error) error {
	for {
		if _, err := s.Status(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for machine %s: %w", s.Name, ctx.Err())
		case err := <-died:
			return fmt.Errorf("machine %s ended while it started (%w), see %s", s.Name, err, s.Log(""))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Main is the first process of a machine. It comes twice: to build the
// machine's surroundings and, run again inside them, to run its programs. A
// thread can't move a whole Go process into a cgroup namespace; a new program
// begins in it.
func Main(ctx context.Context, dir, name string, inside bool) error {
	s, err := Load(dir, name)
	if err != nil {
		return err
	}
	if inside {
		return s.run(ctx)
	}
	if os.Getpid() != 1 {
		return fmt.Errorf("machine %s: not in namespaces of its own; testbed up starts machines", name)
	}
	runtime.LockOSThread()
	if err := joinCgroup(s.cgroup()); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("make cgroup namespace: %w", err)
	}
	if err := s.mountAll(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return err
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	return unix.Exec(self, []string{os.Args[0], "machine", "--inside", dir, name}, os.Environ())
}

// run is the machine's life: network, programs, orders, and the end.
func (s *Spec) run(ctx context.Context) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	if unified(hs) {
		if err := leaveRoot(); err != nil {
			return err
		}
	}
	if err := s.configureNetwork(ctx); err != nil {
		return err
	}
	sup := newSupervisor(s)
	defer sup.shutdown()
	return sup.serve(ctx)
}
