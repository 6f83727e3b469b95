// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHierarchy(t *testing.T) {
	for _, row := range []struct {
		name, line string
		want       hierarchy
		ok         bool
	}{
		{"version 2", "26 23 0:24 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
			hierarchy{"/sys/fs/cgroup", "cgroup2", nil}, true},
		{"one controller", "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory",
			hierarchy{"/sys/fs/cgroup/memory", "cgroup", []string{"memory"}}, true},
		{"two controllers", "33 25 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct",
			hierarchy{"/sys/fs/cgroup/cpu,cpuacct", "cgroup", []string{"cpu", "cpuacct"}}, true},
		{"named", "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/x,name=systemd",
			hierarchy{"/sys/fs/cgroup/systemd", "cgroup", []string{"none", "name=systemd"}}, true},
		{"not a cgroup", "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755", hierarchy{}, false},
		{"elsewhere", "26 23 0:24 / /mnt rw - cgroup2 cgroup2 rw", hierarchy{}, false},
		{"cut short", "26 23", hierarchy{}, false},
	} {
		got, ok := parseHierarchy(row.line)
		if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(hierarchy{})); diff != "" || ok != row.ok {
			t.Errorf("%s: %t %s", row.name, ok, diff)
		}
	}
}

func TestUnified(t *testing.T) {
	v2 := hierarchy{mountpoint: cgroupRoot, fstype: "cgroup2"}
	side := hierarchy{mountpoint: cgroupRoot + "/unified", fstype: "cgroup2"}
	v1 := hierarchy{mountpoint: cgroupRoot + "/cpu", fstype: "cgroup", options: []string{"cpu"}}
	for _, row := range []struct {
		name string
		hs   []hierarchy
		want bool
	}{
		{"version 2", []hierarchy{v2}, true},
		{"version 1", []hierarchy{v1}, false},
		{"both, version 2 without controllers", []hierarchy{v1, side}, false},
		{"version 2 at the side alone", []hierarchy{side}, false},
	} {
		if got := unified(row.hs); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

func TestIsFirst(t *testing.T) {
	for _, row := range []struct {
		name, status string
		want         bool
	}{
		{"of the host", "Name:\tx\nNSpid:\t1\n", false},
		{"a machine's first", "NSpid:\t412\t1\n", true},
		{"a machine's second", "NSpid:\t413\t2\n", false},
		{"a container's first, in a machine", "NSpid:\t500\t40\t1\n", false},
		{"a kernel without the field", "Name:\tx\n", false},
	} {
		if got := isFirst([]byte(row.status)); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	if !isZombie([]byte("Name:\tx\nState:\tZ (zombie)\n")) || isZombie([]byte("State:\tS (sleeping)\n")) {
		t.Error("the state is misread")
	}
}

// TestShareProcessors requires root, as the testbed does.
func TestShareProcessors(t *testing.T) {
	path := CgroupOf("testshareprocessors")
	if err := makeCgroup(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeCgroup(path); err != nil {
			t.Error(err)
		}
	})
	if err := shareProcessors(path, 3); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, dir := range cgroupDirs(path) {
		for _, file := range []string{"cpu.shares", "cpu.weight"} {
			if value, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
				got = append(got, strings.TrimSpace(string(value)))
			}
		}
	}
	if len(got) != 1 || got[0] != "3072" && got[0] != "300" {
		t.Errorf("the shares are %v", got)
	}
}

func TestAncestorsEndWithTheCaller(t *testing.T) {
	if pids := ancestors(); len(pids) < 2 || pids[0] != os.Getpid() || pids[1] != os.Getppid() {
		t.Errorf("%v, this process is %d of %d", pids, os.Getpid(), os.Getppid())
	}
}

func TestSpecSurvivesItsFile(t *testing.T) {
	dir := t.TempDir()
	want := &Spec{Testbed: "x", Name: "node-1", Dir: dir, Shared: filepath.Join(dir, "shared"), Address: "10.0.0.2/24",
		Routes: []Route{{"10.1.0.0/24", "10.0.0.3"}}, Share: 2, Covers: map[string]string{"/proc/sys/vm/x": "1\n"},
		Processes: []Process{{Name: "p", Args: []string{"/p", "--q"}, WaitFor: []string{"/f"}, Grace: 3}}}
	if err := want.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir, "node-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, made := range []string{filepath.Join(want.Home(), "var"), filepath.Dir(want.Log("")), want.Shared} {
		if _, err := os.Stat(made); err != nil {
			t.Error(err)
		}
	}
}
