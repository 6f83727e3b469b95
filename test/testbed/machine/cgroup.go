// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// CgroupOf returns the path of a testbed's cgroup within each hierarchy.
func CgroupOf(testbed string) string { return filepath.Join("/kubectl-etcd-testbed", testbed) }

// hierarchy is one mounted tree of cgroups: the only one under version 2, one
// per controller under version 1.
type hierarchy struct {
	mountpoint string
	fstype     string // cgroup or cgroup2
	// options of the mount that identify the tree: controllers or a name.
	options []string
}

// unified reports whether the machine has cgroup version 2 and nothing else.
func unified(hs []hierarchy) bool {
	return len(hs) == 1 && hs[0].fstype == "cgroup2" && hs[0].mountpoint == cgroupRoot
}

// hierarchies reads them from the caller's mounts.
func hierarchies() ([]hierarchy, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var found []hierarchy
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if h, ok := parseHierarchy(lines.Text()); ok {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no cgroup hierarchy is mounted below " + cgroupRoot)
	}
	return found, nil
}

// parseHierarchy takes a line of mountinfo: the mount point is field five, and
// after a lone dash come the file system, its source and its options.
func parseHierarchy(line string) (hierarchy, bool) {
	left, right, ok := strings.Cut(line, " - ")
	before, after := strings.Fields(left), strings.Fields(right)
	if !ok || len(before) < 5 || len(after) < 3 || !strings.HasPrefix(before[4], cgroupRoot) {
		return hierarchy{}, false
	}
	h := hierarchy{mountpoint: before[4], fstype: after[0]}
	switch h.fstype {
	case "cgroup2":
		return h, true
	case "cgroup":
		for o := range strings.SplitSeq(after[2], ",") {
			if o == "rw" || o == "ro" || o == "clone_children" || o == "xattr" || strings.HasPrefix(o, "release_agent=") {
				continue
			}
			if strings.HasPrefix(o, "name=") {
				h.options = append(h.options, "none")
			}
			h.options = append(h.options, o)
		}
		return h, true
	}
	return hierarchy{}, false
}

// makeCgroup makes path in every hierarchy, ready to take processes.
func makeCgroup(path string) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		dir := h.mountpoint
		for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
			if unified(hs) {
				delegate(dir)
			}
			dir = filepath.Join(dir, part)
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("make cgroup: %w", err)
			}
			if slices.Contains(h.options, "cpuset") {
				inheritCpuset(dir)
			}
		}
	}
	return nil
}

// shareProcessors sets how much of busy processors the processes below path get: as much as this
// many processes outside of any cgroup. A cgroup without it counts as one process, however many
// are in it.
func shareProcessors(path string, processes int) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		file, each := "cpu.weight", 100
		if h.fstype == "cgroup" {
			file, each = "cpu.shares", 1024
		}
		file = filepath.Join(h.mountpoint, path, file)
		// Only one hierarchy has the controller.
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(processes*each)), 0); err != nil {
			return fmt.Errorf("share processors: %w", err)
		}
	}
	return nil
}

// delegate hands the controllers that kubelet needs from a version 2 cgroup to
// its children. One that can't be handed on is no error: kubelet reports which it
// misses.
func delegate(dir string) {
	for _, c := range []string{"cpu", "cpuset", "io", "memory", "pids"} {
		_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0)
	}
}

// leaveRoot moves the machine's first process out of its version 2 root cgroup,
// to one beside those of the pods: a cgroup that hands controllers on may hold
// no processes, and one that does both is broken for good.
func leaveRoot() error {
	if err := os.Mkdir(filepath.Join(cgroupRoot, "init"), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make cgroup: %w", err)
	}
	if err := joinCgroup("/init"); err != nil {
		return err
	}
	delegate(cgroupRoot)
	return nil
}

// inheritCpuset gives a version 1 cpuset its parent's cores: it is made empty,
// and takes no process before it has some.
func inheritCpuset(dir string) {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		if own, _ := os.ReadFile(filepath.Join(dir, name)); strings.TrimSpace(string(own)) == "" {
			parent, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), name))
			_ = os.WriteFile(filepath.Join(dir, name), parent, 0)
		}
	}
}

// joinCgroup moves the calling process into path in every hierarchy.
func joinCgroup(path string) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		if err := os.WriteFile(filepath.Join(h.mountpoint, path, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("join cgroup: %w", err)
		}
	}
	return nil
}

// setFrozen stops or resumes every process below the cgroup path at once.
func setFrozen(path string, frozen bool) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		file, value := "cgroup.freeze", map[bool]string{true: "1", false: "0"}[frozen]
		if h.fstype == "cgroup" {
			file, value = "freezer.state", map[bool]string{true: "FROZEN", false: "THAWED"}[frozen]
		}
		file = filepath.Join(h.mountpoint, path, file)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if err := os.WriteFile(file, []byte(value), 0); err != nil {
			return err
		}
		if h.fstype == "cgroup" || unified(hs) {
			return nil
		}
	}
	return errors.New("this machine's cgroups can't freeze processes")
}

// isFrozen reports whether setFrozen stopped the processes of path.
func isFrozen(path string) bool {
	hs, _ := hierarchies()
	for _, h := range hs {
		for _, file := range []string{"freezer.state", "cgroup.freeze"} {
			switch state, _ := os.ReadFile(filepath.Join(h.mountpoint, path, file)); strings.TrimSpace(string(state)) {
			case "FROZEN", "FREEZING", "1":
				return true
			}
		}
	}
	return false
}

// cgroupDirs returns every cgroup at and below path, children first.
func cgroupDirs(path string) []string {
	hs, _ := hierarchies()
	var dirs []string
	for _, h := range hs {
		_ = filepath.WalkDir(filepath.Join(h.mountpoint, path), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, p)
			}
			return nil
		})
	}
	slices.Reverse(dirs)
	return dirs
}

// cgroupProcesses returns the processes at and below path.
func cgroupProcesses(path string) []int {
	var pids []int
	for _, dir := range cgroupDirs(path) {
		data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for line := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(line); err == nil && pid > 0 && !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// removeCgroup removes path and what is below it, and the parent when it was
// the last child. It fails while a process is left inside.
func removeCgroup(path string) error {
	for _, dir := range cgroupDirs(path) {
		if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("remove cgroup %s: %w", dir, err)
		}
	}
	hs, _ := hierarchies()
	for _, h := range hs {
		_ = unix.Rmdir(filepath.Join(h.mountpoint, filepath.Dir(path)))
	}
	return nil
}
