// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewLayout(t *testing.T) {
	o, err := Options{Name: "n", Nodes: 5, Zones: 3, StateDir: "/s"}.complete()
	if err != nil {
		t.Fatal(err)
	}
	l := newLayout(o, netip.MustParsePrefix("10.89.7.0/24"))
	want := []Node{
		{"node-1", "zone-a", "10.89.7.11", "10.244.1.0/24"},
		{"node-2", "zone-b", "10.89.7.12", "10.244.2.0/24"},
		{"node-3", "zone-c", "10.89.7.13", "10.244.3.0/24"},
		{"node-4", "zone-a", "10.89.7.14", "10.244.4.0/24"},
		{"node-5", "zone-b", "10.89.7.15", "10.244.5.0/24"},
	}
	if diff := cmp.Diff(want, l.Nodes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"zone-a", "zone-b", "zone-c"}, l.zones()); diff != "" {
		t.Error(diff)
	}
	if got := l.server() + " " + l.registry() + " " + l.hostLink(); got != "https://10.89.7.2:6443 10.89.7.2:5000 testbed-89-7" {
		t.Error(got)
	}
	if len(newLayout(o, netip.MustParsePrefix("10.255.255.0/24")).hostLink()) > 15 {
		t.Error("the kernel refuses device names of more than 15 characters")
	}
}

func TestOptions(t *testing.T) {
	for _, row := range []struct {
		name string
		give Options
		want string // in the error; none when empty
	}{
		{"defaults", Options{}, ""},
		{"fewer nodes than default zones", Options{Nodes: 2}, ""},
		{"name with a slash", Options{Name: "a/b"}, `name "a/b"`},
		{"name that climbs", Options{Name: ".."}, `name ".."`},
		{"negative nodes", Options{Nodes: -1}, "-1 nodes"},
		{"more nodes than addresses", Options{Nodes: 101}, "from 1 to 100"},
		{"more zones than nodes", Options{Nodes: 2, Zones: 3}, "a node for each zone"},
		{"more zones than letters", Options{Nodes: 50, Zones: 27}, "at most 26"},
		{"subnet too small", Options{Subnet: netip.MustParsePrefix("10.1.1.0/25")}, "a /24"},
		{"subnet of IPv6", Options{Subnet: netip.MustParsePrefix("fd00::/24")}, "of IPv4"},
		{"path too long for a socket", Options{StateDir: "/" + strings.Repeat("x", 100)}, "too long"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, err := row.give.complete()
			switch {
			case row.want == "" && err != nil:
				t.Error(err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("%v: error %v, want %q", o, err, row.want)
			}
		})
	}
}

func TestFits(t *testing.T) {
	o, err := Options{Nodes: 4, Zones: 2}.complete()
	if err != nil {
		t.Fatal(err)
	}
	l := newLayout(o, netip.MustParsePrefix("10.89.0.0/24"))
	for _, row := range []struct {
		name  string
		asked Options
		fits  bool
	}{
		{"nothing asked", Options{}, true},
		{"the same", Options{Nodes: 4, Zones: 2, Subnet: netip.MustParsePrefix("10.89.0.7/24")}, true},
		{"other nodes", Options{Nodes: 3}, false},
		{"other zones", Options{Zones: 3}, false},
		{"other subnet", Options{Subnet: netip.MustParsePrefix("10.89.1.0/24")}, false},
	} {
		if err := l.fits(row.asked); (err == nil) != row.fits {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestFreeSubnet(t *testing.T) {
	prefix := netip.MustParsePrefix
	var all []netip.Prefix
	all = append(all, pool)
	for _, row := range []struct {
		name  string
		asked netip.Prefix
		taken []netip.Prefix
		want  string // a subnet, or a part of an error
	}{
		{"first", netip.Prefix{}, nil, "10.89.0.0/24"},
		{"next free", netip.Prefix{}, []netip.Prefix{prefix("10.89.0.0/24"), prefix("10.89.1.128/25")}, "10.89.2.0/24"},
		{"a wide route takes many", netip.Prefix{}, []netip.Prefix{prefix("10.89.0.0/17")}, "10.89.128.0/24"},
		{"none left", netip.Prefix{}, all, "no free /24"},
		{"asked", prefix("172.20.5.9/24"), []netip.Prefix{prefix("10.89.0.0/24")}, "172.20.5.0/24"},
		{"asked and taken", prefix("172.20.5.0/24"), []netip.Prefix{prefix("172.16.0.0/12")}, "this host uses 172.16.0.0/12"},
	} {
		got, err := freeSubnet(row.asked, row.taken)
		if printed := got.String(); (err != nil || printed != row.want) && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %s, %v; want %s", row.name, printed, err, row.want)
		}
	}
}

func TestLog(t *testing.T) {
	tb := Testbed{layout: layout{Dir: "/run/x"}}
	for process, want := range map[string]string{
		"kube-apiserver": "logs/control-plane/kube-apiserver.log",
		"node-1/kubelet": "logs/node-1/kubelet.log",
		"node-1/":        "logs/node-1/machine.log",
	} {
		if got := tb.Log(process); got != filepath.Join("/run/x", want) {
			t.Errorf("log of %s: %s", process, got)
		}
	}
}

func TestSpecsHoldEveryProgram(t *testing.T) {
	o, err := Options{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	l := newLayout(o, netip.MustParsePrefix("10.89.0.0/24"))
	installed := map[string]bool{}
	for _, p := range append(append([]string{}, controlPrograms...), nodePrograms...) {
		installed[filepath.Join(l.libexec(), p)] = true
	}
	for _, p := range append(l.controlPlaneSpec().Processes, l.nodeSpec(l.Nodes[0]).Processes...) {
		if !installed[p.Args[0]] {
			t.Errorf("%s runs %s, which isn't installed", p.Name, p.Args[0])
		}
	}
}
