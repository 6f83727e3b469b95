// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// device is the machine's network device: one end of a pair, or the bridge of
// the machine that is the switch.
const device = "eth0"

// sysctls of the machine's own network namespace.
var sysctls = map[string]string{
	"net/ipv4/ip_forward":             "1",
	"net/ipv4/conf/all/rp_filter":     "0",
	"net/ipv4/conf/default/rp_filter": "0",
	// A switch must not pass its neighbours' frames through its own firewall.
	"net/bridge/bridge-nf-call-iptables":  "0",
	"net/bridge/bridge-nf-call-ip6tables": "0",
}

// configureNetwork sets up the machine's own side of its network. It waits for
// the device to be plugged in from outside.
func (s *Spec) configureNetwork(ctx context.Context) error {
	for key, value := range sysctls {
		path := "/proc/sys/" + key
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := os.WriteFile(path, []byte(value), 0); err != nil {
			return err
		}
	}
	if s.Switch {
		attrs := netlink.LinkAttrs{Name: device, HardwareAddr: s.hardwareAddress()}
		if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
			return fmt.Errorf("make bridge: %w", err)
		}
	}
	link, err := waitLink(ctx, &netlink.Handle{}, device)
	if err != nil {
		return err
	}
	address, err := netlink.ParseAddr(s.Address)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, address); err != nil {
		return fmt.Errorf("add address %s: %w", s.Address, err)
	}
	for _, name := range []string{"lo", device} {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			return fmt.Errorf("bring up %s: %w", name, err)
		}
	}
	for _, r := range s.Routes {
		_, to, err := net.ParseCIDR(r.To)
		if err != nil {
			return err
		}
		if err := netlink.RouteAdd(&netlink.Route{Dst: to, Gw: net.ParseIP(r.Via)}); err != nil {
			return fmt.Errorf("add route to %s by %s: %w", r.To, r.Via, err)
		}
	}
	return nil
}

func waitLink(ctx context.Context, in *netlink.Handle, name string) (netlink.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		link, err := in.LinkByName(name)
		if err == nil {
			return link, nil
		}
		if !errors.As(err, &netlink.LinkNotFoundError{}) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for network device %s: %w", name, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// inside returns a netlink handle in the namespace of a running machine.
func (s *Spec) inside() (*netlink.Handle, int, error) {
	pid := s.Running()
	if pid == 0 {
		return nil, 0, fmt.Errorf("machine %s of testbed %s is off", s.Name, s.Testbed)
	}
	var ns netns.NsHandle
	err := whileExec(func() (err error) {
		ns, err = netns.GetFromPid(pid)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	defer ns.Close()
	handle, err := netlink.NewHandleAt(ns)
	return handle, pid, err
}

// whileExec repeats do, which reads a machine's first process. While that
// becomes the second program of Main it seems to be gone for a moment, since
// its first thread ends and another takes its id.
func whileExec(do func() error) error {
	for range 2000 {
		err := do()
		if !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.ENOENT) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return do()
}

// plug connects the machine, whose first process is pid, to the switch, with the
// link down when cut. The port is named after the machine.
func (s *Spec) plug(ctx context.Context, pid int, into *Spec, cut bool) error {
	sw, _, err := into.inside()
	if err != nil {
		return err
	}
	defer sw.Close()
	bridge, err := waitLink(ctx, sw, device)
	if err != nil {
		return err
	}
	// The kernel removes a dead machine's cable a moment after the machine.
	if old, err := sw.LinkByName(s.port()); err == nil {
		_ = sw.LinkDel(old)
	}
	port := &netlink.Veth{
		LinkAttrs:        netlink.LinkAttrs{Name: s.port(), MasterIndex: bridge.Attrs().Index},
		PeerName:         device,
		PeerNamespace:    netlink.NsPid(pid),
		PeerHardwareAddr: s.hardwareAddress(),
	}
	if err := whileExec(func() error { return sw.LinkAdd(port) }); err != nil {
		return fmt.Errorf("plug %s into %s: %w", s.Name, into.Name, err)
	}
	return s.Cut(into, cut)
}

// hardwareAddress returns the machine's own for good, as a network card's is; nil when
// Address isn't one of IPv4. The kernel's choice is another one at each boot, and
// for a bridge at each cable that comes or goes. Who has talked to the machine
// before then sends to the old one, which no one receives, for up to a minute.
func (s *Spec) hardwareAddress() net.HardwareAddr {
	ip, _, err := net.ParseCIDR(s.Address)
	if err != nil || ip.To4() == nil {
		return nil
	}
	return append(net.HardwareAddr{0x02, 0}, ip.To4()...)
}

// port names the switch's end of the machine's cable. Device names have 15
// characters at most, machine names fewer.
func (s *Spec) port() string { return s.Name }

// Cut takes the machine's cable down, or up again.
func (s *Spec) Cut(at *Spec, cut bool) error {
	sw, _, err := at.inside()
	if err != nil {
		return err
	}
	defer sw.Close()
	port, err := sw.LinkByName(s.port())
	if err != nil {
		return err
	}
	if cut {
		return sw.LinkSetDown(port)
	}
	return sw.LinkSetUp(port)
}

// PlugHost gives the host itself a link into the switch, so that it reaches
// every machine. The link's alias shows whose it is.
func (s *Spec) PlugHost(ctx context.Context, name, address string) error {
	sw, pid, err := s.inside()
	if err != nil {
		return err
	}
	defer sw.Close()
	bridge, err := waitLink(ctx, sw, device)
	if err != nil {
		return err
	}
	if err := removeLinks(s.Testbed); err != nil {
		return err
	}
	const port = "host"
	host := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: port, PeerNamespace: netlink.NsPid(pid)}
	if err := netlink.LinkAdd(host); err != nil {
		return fmt.Errorf("make link %s: %w", name, err)
	}
	if err := netlink.LinkSetAlias(host, linkAlias(s.Testbed)); err != nil {
		return err
	}
	peer, err := sw.LinkByName(port)
	if err != nil {
		return err
	}
	if err := sw.LinkSetMaster(peer, bridge); err != nil {
		return err
	}
	parsed, err := netlink.ParseAddr(address)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(host, parsed); err != nil {
		return fmt.Errorf("add address %s to %s: %w", address, name, err)
	}
	return errors.Join(sw.LinkSetUp(peer), netlink.LinkSetUp(host))
}

func linkAlias(testbed string) string { return "kubectl-etcd testbed " + testbed }

// removeLinks removes the host's links of a testbed.
func removeLinks(testbed string) error {
	links, err := WholeList(netlink.LinkList)
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Attrs().Alias == linkAlias(testbed) {
			// One end of a pair goes with the other, whose namespace may be ending.
			if err := netlink.LinkDel(l); err != nil && !errors.Is(err, unix.ENODEV) && !errors.As(err, &netlink.LinkNotFoundError{}) {
				return fmt.Errorf("remove link %s: %w", l.Attrs().Name, err)
			}
		}
	}
	return nil
}
