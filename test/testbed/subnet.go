// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// pool is where subnets of testbeds are taken from.
var pool = netip.MustParsePrefix("10.89.0.0/16")

// freeSubnet returns the subnet asked for, or the first free one of the pool.
func freeSubnet(asked netip.Prefix, taken []netip.Prefix) (netip.Prefix, error) {
	if asked.IsValid() {
		for _, t := range taken {
			if t.Overlaps(asked) {
				return asked, fmt.Errorf("subnet %s is taken: this host uses %s; name another with --subnet, or leave it out", asked, t)
			}
		}
		return asked.Masked(), nil
	}
next:
	for i := range 256 {
		a := pool.Addr().As4()
		a[2] = byte(i)
		candidate := netip.PrefixFrom(netip.AddrFrom4(a), 24)
		for _, t := range taken {
			if t.Overlaps(candidate) {
				continue next
			}
		}
		return candidate, nil
	}
	return netip.Prefix{}, fmt.Errorf("no free /24 is left in %s; name one with --subnet", pool)
}

// takenSubnets returns the networks that the host has a route to, its own
// addresses' among them, the default route left out, and those of testbeds that
// are about to have one.
func takenSubnets(stateDir string) ([]netip.Prefix, error) {
	routes, err := machine.WholeList(func() ([]netlink.Route, error) { return netlink.RouteList(nil, netlink.FAMILY_V4) })
	if err != nil {
		return nil, fmt.Errorf("list the host's routes: %w", err)
	}
	var taken []netip.Prefix
	for _, r := range routes {
		if p, ok := prefixOf(r.Dst); ok && p.Bits() > 0 {
			taken = append(taken, p)
		}
	}
	all, err := layouts(stateDir)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		taken = append(taken, l.Subnet)
	}
	return taken, nil
}

func prefixOf(n *net.IPNet) (netip.Prefix, bool) {
	if n == nil {
		return netip.Prefix{}, false
	}
	addr, ok := netip.AddrFromSlice(n.IP.To4())
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(addr, bits), ok
}
