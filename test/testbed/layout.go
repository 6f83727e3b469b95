// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"net/netip"
	"path/filepath"
)

const (
	controlPlane = "control-plane"
	podNetwork   = "10.244.0.0/16"
	serviceRange = "10.96.0.0/16"
	zoneLetters  = "abcdefghijklmnopqrstuvwxyz"
	serviceIP    = "10.96.0.1" // of the API server, the range's first
)

// Node is a machine that runs pods.
type Node struct {
	Name    string `json:"name"`
	Zone    string `json:"zone"`
	Address string `json:"address"`
	PodCIDR string `json:"podCIDR"`
}

// layout is everything about a testbed that is decided once, when it is made.
type layout struct {
	Name   string       `json:"name"`
	Dir    string       `json:"dir"`
	Subnet netip.Prefix `json:"subnet"`
	Nodes  []Node       `json:"nodes"`
	// Complete is set when Up has once seen the whole cluster work.
	Complete bool `json:"complete"`
}

func newLayout(o Options, subnet netip.Prefix) layout {
	l := layout{Name: o.Name, Dir: o.dir(), Subnet: subnet}
	for i := range o.Nodes {
		l.Nodes = append(l.Nodes, Node{
			Name:    fmt.Sprintf("node-%d", i+1),
			Zone:    "zone-" + zoneLetters[i%o.Zones:][:1],
			Address: l.address(11 + i),
			PodCIDR: fmt.Sprintf("10.244.%d.0/24", i+1),
		})
	}
	return l
}

// address returns the n-th address of the machines' subnet.
func (l layout) address(n int) string {
	a := l.Subnet.Addr().As4()
	return fmt.Sprintf("%d.%d.%d.%d", a[0], a[1], a[2], n)
}

func (l layout) hostAddress() string    { return l.address(1) }
func (l layout) controlAddress() string { return l.address(2) }
func (l layout) server() string         { return "https://" + l.controlAddress() + ":6443" }
func (l layout) registry() string       { return l.controlAddress() + ":5000" }

// hostLink names the host's network device; the subnet makes it unique.
func (l layout) hostLink() string {
	a := l.Subnet.Addr().As4()
	return fmt.Sprintf("testbed-%d-%d", a[1], a[2])
}

func (l layout) zones() []string {
	var zones []string
	seen := map[string]bool{}
	for _, n := range l.Nodes {
		if !seen[n.Zone] {
			seen[n.Zone] = true
			zones = append(zones, n.Zone)
		}
	}
	return zones
}

// What stands where in the run directory.
func (l layout) pki() string             { return filepath.Join(l.Dir, "pki") }
func (l layout) auditLog() string        { return filepath.Join(l.Dir, "logs", "audit.log") }
func (l layout) kubeconfig() string      { return filepath.Join(l.Dir, "kubeconfig") }
func (l layout) shared() string          { return filepath.Join(l.Dir, "shared") }
func (l layout) bin() string             { return filepath.Join(l.Dir, "bin") }     // for people
func (l layout) libexec() string         { return filepath.Join(l.Dir, "libexec") } // for machines
func (l layout) home(name string) string { return filepath.Join(l.Dir, "machines", name) }

// staticPods returns where a node's kubelet finds the pods that it runs by itself.
func (l layout) staticPods(name string) string { return filepath.Join(l.home(name), "static-pods") }

// appliedFile returns there once the testbed's own objects are in the cluster.
func (l layout) appliedFile() string { return filepath.Join(l.Dir, "objects-applied") }

// cutFile returns there while a node is cut off.
func (l layout) cutFile(name string) string { return filepath.Join(l.home(name), "cut") }
func layoutFile(dir string) string          { return filepath.Join(dir, "testbed.json") }
