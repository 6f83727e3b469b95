// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"net"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// TestSwitchKeepsItsHardwareAddress plugs in the lowest hardware address of all,
// which a bridge without one of its own takes over.
func TestSwitchKeepsItsHardwareAddress(t *testing.T) {
	runtime.LockOSThread() // for good: the thread ends with the test, and its network with it
	ns, err := netns.New()
	if err != nil {
		t.Fatalf("a network namespace needs root: %v", err)
	}
	defer ns.Close()
	s := &Spec{Name: "switch", Address: "10.0.0.2/24", Switch: true}
	if err := s.configureNetwork(t.Context()); err != nil {
		t.Fatal(err)
	}
	bridge, err := netlink.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	port := &netlink.Veth{PeerName: "machine", LinkAttrs: netlink.LinkAttrs{
		Name: "port", MasterIndex: bridge.Attrs().Index, HardwareAddr: net.HardwareAddr{0, 0, 0, 0, 0, 1},
	}}
	if err := netlink.LinkAdd(port); err != nil {
		t.Fatal(err)
	}
	now, err := netlink.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := now.Attrs().HardwareAddr.String(), bridge.Attrs().HardwareAddr.String(); got != want {
		t.Errorf("with a cable plugged in %s, was %s", got, want)
	}
}
