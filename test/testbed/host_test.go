// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// host is what a testbed could leave behind on its host, a line for each thing.
// Things of other testbeds are left out: they may come and go meanwhile.
type host map[string][]string

// left returns what is on the host now and was not before, or the reverse.
func (h host) left(now host) []string {
	var lines []string
	for kind := range now {
		for _, l := range now[kind] {
			if !slices.Contains(h[kind], l) {
				lines = append(lines, "new "+kind+": "+l)
			}
		}
		for _, l := range h[kind] {
			if !slices.Contains(now[kind], l) {
				lines = append(lines, "lost "+kind+": "+l)
			}
		}
	}
	return lines
}

// nothingLeft holds that the host is as it was. The kernel takes a moment to clear away a
// dead process and its links.
func (h host) nothingLeft(t *testing.T, name string) {
	t.Helper()
	var left []string
	for range 100 {
		if left = h.left(inspect(t, name)); len(left) == 0 {
			return
		}
		time.Sleep(300 * time.Millisecond)
	}
	for _, line := range left {
		t.Error(line)
	}
}

// inspect lists the files and processes of the host; name is the testbed under test.
func inspect(t *testing.T, name string) host {
	t.Helper()
	return host{
		"process": processesOf(name),
		"link":    links(t, name),
		"route":   routes(t),
		"mount":   lines(t, "/proc/self/mountinfo"),
		"cgroup":  cgroups(name),
		"sysctl":  sysctls(),
		"file":    files(),
		"table":   tables(t),
	}
}

// processesOf returns the processes that carry the testbed's name anywhere: in
// their environment, arguments, cgroup or mounts.
func processesOf(name string) []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		for _, file := range []string{"environ", "cmdline", "cgroup", "mountinfo"} {
			data, _ := os.ReadFile(filepath.Join(dir, file))
			if strings.Contains(string(data), name) && !dying(dir) {
				command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				found = append(found, fmt.Sprintf("%s (%s) %s", dir, file, strings.ReplaceAll(string(command), "\x00", " ")))
				break
			}
		}
	}
	return found
}

// dying is whether a process has released its memory, and with it its program: all
// that is left is for its parent to collect it.
func dying(dir string) bool {
	_, err := os.Readlink(filepath.Join(dir, "exe"))
	return err != nil
}

func isOthers(alias, name string) bool {
	return strings.HasPrefix(alias, "kubectl-etcd testbed ") && !strings.HasSuffix(alias, " "+name)
}

func links(t *testing.T, name string) []string {
	t.Helper()
	all, err := machine.WholeList(netlink.LinkList)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, l := range all {
		if !isOthers(l.Attrs().Alias, name) {
			found = append(found, l.Attrs().Name)
		}
	}
	namespaces, _ := filepath.Glob("/run/netns/*")
	return append(found, namespaces...)
}

// routes leaves out those of testbeds' own subnets, whose links are counted.
func routes(t *testing.T) []string {
	t.Helper()
	all, err := machine.WholeList(func() ([]netlink.Route, error) { return netlink.RouteList(nil, netlink.FAMILY_ALL) })
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, r := range all {
		link, err := netlink.LinkByIndex(r.LinkIndex)
		if err == nil && !strings.HasPrefix(link.Attrs().Alias, "kubectl-etcd testbed ") {
			found = append(found, fmt.Sprintf("%v via %v dev %s", r.Dst, r.Gw, link.Attrs().Name))
		}
	}
	return found
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []string
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

func cgroups(name string) []string {
	var found []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // another testbed's cgroup that went meanwhile
		}
		_, below, ours := strings.Cut(path, "/kubectl-etcd-testbed")
		if !ours || strings.HasPrefix(below, "/"+name) {
			found = append(found, path)
		}
		return nil
	})
	return found
}

func sysctls() []string {
	keys := []string{"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv4/conf/all/rp_filter", "/proc/sys/net/netfilter/nf_conntrack_max"}
	for key := range tunables {
		keys = append(keys, key)
	}
	var found []string
	for _, key := range keys {
		data, _ := os.ReadFile(key)
		found = append(found, key+"="+strings.TrimSpace(string(data)))
	}
	return found
}

// files returns which of the files and folders exist that Kubernetes' programs make when no one
// prints them otherwise.
func files() []string {
	var found []string
	for _, path := range []string{
		"/var/lib/kubelet", "/var/lib/containerd", "/var/lib/cni", "/var/lib/etcd", "/var/log/pods", "/var/log/containers",
		"/var/shared", "/run/containerd", "/run/netns", "/run/cni-ipam", "/etc/cni", "/opt/cni", "/opt/containerd", "/etc/kubernetes",
	} {
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

func tables(t *testing.T) []string {
	t.Helper()
	if findTool("nft") == "" {
		return nil // not installed before the first Up
	}
	out, err := exec.CommandContext(t.Context(), findTool("nft"), "list", "tables").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Split(string(out), "\n")
}
