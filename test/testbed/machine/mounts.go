// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mountAll makes the new mount namespace, which is a copy of the host's, the
// machine's: its own /proc, /sys, /run and /var, and nothing that the host sees.
func (s *Spec) mountAll() error {
	hs, err := hierarchies() // before /sys is covered
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return remount("/proc", "proc") },
		func() error { return remount("/sys", "sysfs") },
		func() error { return mountCgroups(hs) },
		s.mountOwnDirs,
		s.cover,
		// Shared among the machine's own children only, as a node's root is:
		// kubelet's mounts reach containers that ask for it.
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("set up the mounts of machine %s: %w", s.Name, err)
		}
	}
	return nil
}

// remount replaces a mount of the host's by one that shows the machine. The old
// one goes first: merely covered, it would still be listed, and programs look
// for cgroups in that list.
func remount(path, fstype string) error {
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Mount(fstype, path, fstype, 0, "")
}

// mountCgroups mounts the host's hierarchies again. In the machine's cgroup
// namespace each then begins at the machine's own cgroup.
func mountCgroups(hs []hierarchy) error {
	if unified(hs) {
		return unix.Mount("cgroup2", cgroupRoot, "cgroup2", 0, "")
	}
	if err := unix.Mount("cgroup", cgroupRoot, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for _, h := range hs {
		if err := os.MkdirAll(h.mountpoint, 0o755); err != nil {
			return err
		}
		if err := unix.Mount("cgroup", h.mountpoint, h.fstype, 0, strings.Join(h.options, ",")); err != nil {
			return fmt.Errorf("mount cgroup %s: %w", h.mountpoint, err)
		}
		for _, name := range h.options { // cpu -> cpu,cpuacct, as distributions have it
			if link := filepath.Join(cgroupRoot, name); len(h.options) > 1 && !strings.Contains(name, "=") && name != "none" {
				_ = os.Symlink(filepath.Base(h.mountpoint), link)
			}
		}
	}
	return nil
}

// mountOwnDirs gives the machine its own /run, in memory, and its own /var, on
// disk. Programs then have their usual paths, and whatever they and their
// containers leave there is gone with the testbed.
func (s *Spec) mountOwnDirs() error {
	// The sources are picked up first: the run directory itself usually lies
	// below /var or /run, which are about to be covered.
	targets := []string{"/var", s.Dir, SharedPath}
	var trees []int
	for _, source := range []string{filepath.Join(s.Home(), "var"), s.Dir, s.Shared} {
		tree, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return fmt.Errorf("pick up %s: %w", source, err)
		}
		defer unix.Close(tree)
		trees = append(trees, tree)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return err
	}
	for i, target := range targets {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		if err := unix.MoveMount(trees[i], "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("mount %s: %w", target, err)
		}
	}
	for _, dir := range []string{"/run/lock", "/var/lib", "/var/log", "/var/cache", "/var/tmp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	_ = os.Symlink("/run", "/var/run") // there after the first boot
	return os.Chmod("/var/tmp", 0o777|os.ModeSticky)
}

// cover lays files of ours over the host's.
func (s *Spec) cover() error {
	for path, content := range s.Covers {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		ours := filepath.Join("/run/covers", path)
		if err := os.MkdirAll(filepath.Dir(ours), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(ours, []byte(content), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(ours, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cover %s: %w", path, err)
		}
	}
	return nil
}
