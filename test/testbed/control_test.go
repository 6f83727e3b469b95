// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

func fetch(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// must ends the test on an error of the testbed's own API.
func (c cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// nodeOf returns the node that a pod runs on.
func (c cluster) nodeOf(pod string) Node {
	c.t.Helper()
	name := c.kubectl("get", "pod", pod, "-o", "jsonpath={.spec.nodeName}")
	for _, n := range c.Nodes() {
		if n.Name == name {
			return n
		}
	}
	c.t.Fatalf("pod %s runs on %q", pod, name)
	return Node{}
}

// reachable reports whether the node's kubelet takes a connection and begins to
// speak TLS; a frozen one only takes it.
func reachable(n Node) bool {
	client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("https://" + net.JoinHostPort(n.Address, "10250") + "/healthz")
	if err == nil {
		_ = resp.Body.Close()
	}
	return err != nil && strings.Contains(err.Error(), "certificate")
}

// answers waits for the node to be reachable.
func (c cluster) answers(n Node) {
	c.t.Helper()
	c.eventually(func() string {
		if !reachable(n) {
			return n.Name + " doesn't answer"
		}
		return ""
	})
}

func testAPIServer(c cluster) {
	c.must(c.StopAPIServer(c.t.Context()))
	if out, err := c.try("get", "nodes", "--request-timeout=2s"); err == nil {
		c.t.Errorf("a stopped API server answers %s", out)
	}
	c.must(c.StartAPIServer(c.t.Context()))
	c.kubectl("get", "nodes")
	c.must(c.KillProcess(c.t.Context(), "kube-controller-manager"))
	c.must(c.StartProcess(c.t.Context(), "kube-controller-manager"))
}

func testCut(c cluster) {
	n := c.nodeOf("db-0")
	c.must(c.CutNode(c.t.Context(), n.Name))
	if reachable(n) {
		c.t.Errorf("%s is cut off and answers", n.Name)
	}
	c.must(c.HealNode(c.t.Context(), n.Name))
	c.answers(n)
	c.must(c.CutZone(c.t.Context(), n.Zone))
	c.must(c.HealZone(c.t.Context(), n.Zone))
}

func testPause(c cluster) {
	n := c.nodeOf("db-0")
	c.must(c.PauseNode(c.t.Context(), n.Name))
	if reachable(n) {
		c.t.Errorf("%s is paused and answers", n.Name)
	}
	s, err := c.Status(c.t.Context())
	c.must(err)
	for _, m := range s.Machines {
		if m.Paused != (m.Name == n.Name) {
			c.t.Errorf("status of %s: paused %t", m.Name, m.Paused)
		}
	}
	c.must(c.ResumeNode(c.t.Context(), n.Name))
	c.answers(n)
}

// hardwareAddress returns where this host sends what is for a node.
func (c cluster) hardwareAddress(n Node) string {
	c.t.Helper()
	neighbours, err := machine.WholeList(func() ([]netlink.Neigh, error) { return netlink.NeighList(0, netlink.FAMILY_V4) })
	c.must(err)
	for _, entry := range neighbours {
		if entry.IP.String() == n.Address {
			return entry.HardwareAddr.String()
		}
	}
	c.t.Fatalf("this host knows no hardware address of %s", n.Name)
	return ""
}

func testKill(c cluster)     { c.offAndOn(c.KillNode) }
func testShutdown(c cluster) { c.offAndOn(c.StopNode) }

// offAndOn stops a node and starts it, and expects its pod, the pod's data and
// its network addresses back.
func (c cluster) offAndOn(stop func(context.Context, string) error) {
	n := c.nodeOf("db-0")
	c.answers(n)
	address := c.hardwareAddress(n)
	c.must(stop(c.t.Context(), n.Name))
	if reachable(n) {
		c.t.Errorf("%s is off and answers", n.Name)
	}
	restarts := func() string {
		return c.kubectl("get", "pod", "db-0", "-o", "jsonpath={.status.containerStatuses[0].restartCount}")
	}
	before := restarts()
	c.must(c.StartNode(c.t.Context(), n.Name))
	c.eventually(func() string {
		if restarts() == before {
			return "db-0 was not started again"
		}
		if out, err := c.try("exec", "db-0", "--", "/probe", "read", "/data/file"); err != nil || out != "kept" {
			return out
		}
		return ""
	})
	c.answers(n)
	if now := c.hardwareAddress(n); now != address {
		c.t.Errorf("%s came back with hardware address %s, had %s", n.Name, now, address)
	}
}
