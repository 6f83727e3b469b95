// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// tunables are what kubelet sets for the whole host when it doesn't find them so.
var tunables = map[string]int{
	"/proc/sys/vm/overcommit_memory":      1,
	"/proc/sys/vm/panic_on_oom":           0,
	"/proc/sys/kernel/panic":              10,
	"/proc/sys/kernel/panic_on_oops":      1,
	"/proc/sys/kernel/keys/root_maxkeys":  1000000,
	"/proc/sys/kernel/keys/root_maxbytes": 25000000,
}

// covers returns the files of the host that a machine sees otherwise.
func (l layout) covers(name string) map[string]string {
	// Each is a computer of its own, not the host; the id has 32 digits.
	id := sha256.Sum256([]byte(l.Name + "/" + name))
	hosts := []string{"127.0.0.1 localhost", "::1 localhost ip6-localhost", l.controlAddress() + " " + controlPlane}
	for _, n := range l.Nodes {
		hosts = append(hosts, n.Address+" "+n.Name)
	}
	covers := map[string]string{
		"/etc/machine-id": hex.EncodeToString(id[:16]) + "\n",
		"/etc/hosts":      strings.Join(hosts, "\n") + "\n",
	}
	for path, value := range tunables {
		covers[path] = strconv.Itoa(value) + "\n"
	}
	return covers
}

// flags are a program's command line options.
type flags map[string]string

// process returns a program from libexec with its flags, in a fixed order.
func (l layout) process(name string, f flags) machine.Process {
	p := machine.Process{Name: name, Args: []string{filepath.Join(l.libexec(), name)}}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		p.Args = append(p.Args, fmt.Sprintf("--%s=%s", key, f[key]))
	}
	return p
}

// machine returns what all machines have in common: addresses, and a route to the
// pods of every other node.
func (l layout) machine(name, address string) *machine.Spec {
	s := &machine.Spec{
		Testbed: l.Name, Name: name, Dir: l.Dir, Shared: l.shared(),
		Address: address + "/24", Covers: l.covers(name),
	}
	for _, n := range l.Nodes {
		if n.Name != name {
			s.Routes = append(s.Routes, machine.Route{To: n.PodCIDR, Via: n.Address})
		}
	}
	return s
}

func (l layout) pkiFile(name string) string { return filepath.Join(l.pki(), name) }

func (l layout) controlPlaneSpec() *machine.Spec {
	s := l.machine(controlPlane, l.controlAddress())
	s.Switch = true
	s.Share = 4 // a real control plane has processors of its own
	apiServer := l.process("kube-apiserver", l.apiServerFlags())
	apiServer.Grace = 3 * time.Second // it waits for its clients' watches to end, which don't
	answers := []string{l.server() + "/readyz"}
	objects := []string{l.appliedFile()} // without their rights, what uses them backs off for seconds
	program := func(name string, waitFor []string, args ...string) machine.Process {
		return machine.Process{Name: name, Args: append([]string{filepath.Join(l.libexec(), args[0])}, args[1:]...), WaitFor: waitFor}
	}
	scheduler := l.process("kube-scheduler", flags{
		"kubeconfig":                l.pkiFile("kube-scheduler.kubeconfig"),
		"authentication-kubeconfig": l.pkiFile("kube-scheduler.kubeconfig"),
		"authorization-kubeconfig":  l.pkiFile("kube-scheduler.kubeconfig"),
		"leader-elect":              "false", // there is one, and a restart needn't wait for a lease
	})
	controllerManager := l.process("kube-controller-manager", l.controllerManagerFlags())
	scheduler.WaitFor, controllerManager.WaitFor = answers, answers
	s.Processes = []machine.Process{
		l.process("etcd", flags{
			"name": controlPlane, "data-dir": "/var/lib/etcd",
			"listen-client-urls": "http://127.0.0.1:2379", "advertise-client-urls": "http://127.0.0.1:2379",
			"listen-peer-urls": "http://127.0.0.1:2380",
			"unsafe-no-fsync":  "true", // the cluster doesn't outlive a crash of the host anyway
		}),
		apiServer,
		controllerManager,
		scheduler,
		program("registry", nil, helper, "serve-registry", l.registry(), filepath.Join(l.Dir, "registry")),
		program("coredns", objects, "coredns", "-conf", filepath.Join(l.home(controlPlane), "Corefile")),
		program("provisioner", objects, helper, "provision", l.pkiFile("provisioner.kubeconfig"), filepath.Join(l.shared(), "volumes")),
	}
	return s
}

func (l layout) apiServerFlags() flags {
	return flags{
		"advertise-address": l.controlAddress(), "bind-address": "0.0.0.0", "secure-port": "6443",
		"etcd-servers":             "http://127.0.0.1:2379",
		"service-cluster-ip-range": serviceRange,
		"allow-privileged":         "true",
		"authorization-mode":       "Node,RBAC", "enable-admission-plugins": "NodeRestriction",
		"client-ca-file": l.pkiFile("ca.crt"), "tls-cert-file": l.pkiFile("kube-apiserver.crt"), "tls-private-key-file": l.pkiFile("kube-apiserver.key"),
		"kubelet-certificate-authority": l.pkiFile("ca.crt"), "kubelet-preferred-address-types": "InternalIP",
		"kubelet-client-certificate": l.pkiFile("kubelet-client.crt"), "kubelet-client-key": l.pkiFile("kubelet-client.key"),
		"service-account-issuer":           "https://kubernetes.default.svc.cluster.local",
		"service-account-key-file":         l.pkiFile("service-account.pub"),
		"service-account-signing-key-file": l.pkiFile("service-account.key"),
		"requestheader-client-ca-file":     l.pkiFile("front-proxy.crt"), "requestheader-allowed-names": "front-proxy-client",
		"requestheader-username-headers": "X-Remote-User", "requestheader-group-headers": "X-Remote-Group",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
		"proxy-client-cert-file":             l.pkiFile("front-proxy-client.crt"), "proxy-client-key-file": l.pkiFile("front-proxy-client.key"),
		// No kube-proxy runs here, so that webhooks and extension API servers
		// are called at their pods and not at their Services' addresses.
		"enable-aggregator-routing": "true",
		"audit-policy-file":         filepath.Join(l.home(controlPlane), "audit.yaml"),
		"audit-log-path":            l.auditLog(),
	}
}

func (l layout) controllerManagerFlags() flags {
	kubeconfig := l.pkiFile("kube-controller-manager.kubeconfig")
	return flags{
		"kubeconfig": kubeconfig, "authentication-kubeconfig": kubeconfig, "authorization-kubeconfig": kubeconfig,
		"leader-elect": "false", "use-service-account-credentials": "true",
		"service-account-private-key-file": l.pkiFile("service-account.key"), "root-ca-file": l.pkiFile("ca.crt"),
		"cluster-signing-cert-file": l.pkiFile("ca.crt"), "cluster-signing-key-file": l.pkiFile("ca.key"),
		"service-cluster-ip-range": serviceRange, "cluster-cidr": podNetwork,
		"allocate-node-cidrs": "false", // pod networks are the machines' own affair here
		"kube-api-qps":        "200", "kube-api-burst": "400",
	}
}

func (l layout) nodeSpec(n Node) *machine.Spec {
	s := l.machine(n.Name, n.Address)
	const socket = "/run/containerd/containerd.sock"
	containerd := l.process("containerd", flags{"config": filepath.Join(l.home(n.Name), "containerd.toml")})
	kubelet := l.process("kubelet", flags{
		"config": filepath.Join(l.home(n.Name), "kubelet.yaml"), "kubeconfig": l.pkiFile("kubelet-" + n.Name + ".kubeconfig"),
		"node-ip": n.Address, "hostname-override": n.Name, "node-labels": "topology.kubernetes.io/zone=" + n.Zone,
	})
	kubelet.WaitFor = []string{socket}
	proxy := l.process("kube-proxy", flags{
		"kubeconfig": l.pkiFile("kube-proxy.kubeconfig"), "hostname-override": n.Name,
		"proxy-mode": "nftables", "cluster-cidr": podNetwork,
		"conntrack-max-per-core": "0", // the table's size is the host's
	})
	s.Processes = []machine.Process{containerd, kubelet, proxy}
	return s
}
