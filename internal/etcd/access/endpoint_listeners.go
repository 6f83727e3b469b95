// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// defaultClientPort is where etcd listens for clients if nothing sets another port.
const defaultClientPort = 2379

const adviseConfig = "set the port on the pod's localhost with --client-port, and for a member with TLS also " +
	"--cacert, --cert and --key, and --server-name if its certificate has other names than the pod"

// config returns the configuration of a pod's etcd. known is false if it can't be read and the
// user's settings replace it: it then has only the container.
func (f *finder) config(ctx context.Context, pod *corev1.Pod) (s etcdconf.Config, known bool, err error) {
	if s, err = f.files.Config(ctx, pod); err == nil {
		return s, true, nil
	}
	if f.given.ClientPort == 0 && !f.given.tls() {
		return s, false, withAdvice(err, adviseConfig)
	}
	f.note("%v: the flags are used instead", err)
	s = etcdconf.Config{}
	if c := etcdconf.MemberOf(pod).Container; c != nil {
		s.Container = c.Name
	}
	return s, false, nil
}

// listeners returns where a member serves clients and metrics. The user's port takes precedence
// over the configuration of the pod.
func (f *finder) listeners(pod *corev1.Pod, s etcdconf.Config, known bool) (clients, metrics listener, err error) {
	direct := ""
	if f.given.Direct {
		direct = cmp.Or(reachableIP(pod, s.ListenClient), pod.Status.PodIP)
	}
	switch {
	case f.given.ClientPort != 0:
		clients = listener{port: f.given.ClientPort, secure: f.securePort(s), address: direct}
	case !known:
		clients = listener{port: defaultClientPort, secure: f.given.tls(), address: direct}
	case f.given.tls() && unknownListeners(s) != "":
		f.note("%s: its URLs for clients (listen-client-urls) are not known, so port %d is used with the flags", pod.Name, defaultClientPort)
		clients = listener{port: defaultClientPort, secure: true, address: direct}
	case assumesDefault(s):
		f.note("%s: its URLs for clients (listen-client-urls) are not known, so etcd's default %s is used; %s", pod.Name, strings.Join(s.ListenClient, ","), adviseConfig)
		clients = listener{port: defaultClientPort, secure: s.ClientTLS.Cert != "" || s.ClientTLS.Auto, address: direct}
	case unknownListeners(s) != "":
		return clients, clients, fmt.Errorf("reach pod %s/%s: its URLs for clients (listen-client-urls) are not known: %s; %s",
			pod.Namespace, pod.Name, unknownListeners(s), adviseConfig)
	default:
		if clients, err = listens(s.ListenClient, direct); err == nil {
			break
		}
		computed, is := computedListener(s.ListenClient, direct)
		if !is || !f.given.tls() {
			return clients, clients, fmt.Errorf("reach pod %s/%s: its URLs for clients (listen-client-urls): %w; %s",
				pod.Namespace, pod.Name, err, f.adviseListener(pod, s.ListenClient))
		}
		f.note("%s: its URLs for clients (listen-client-urls): %v; so port %d is used with the flags", pod.Name, err, computed.port)
		clients = computed
	}
	return clients, metricsListener(s, direct, clients), nil
}

// metricsListener returns where a member serves metrics, which is that for clients unless it has another one.
func metricsListener(s etcdconf.Config, direct string, clients listener) listener {
	for _, of := range []struct {
		flag string
		urls []string
	}{{"listen-metrics-urls", s.ListenMetrics}, {"listen-client-http-urls", s.ListenClientHTTP}} {
		if len(of.urls) == 0 || s.Unknown[of.flag] != "" {
			continue
		}
		if at, err := listens(of.urls, direct); err == nil {
			return at
		}
	}
	return clients
}

// unknownListeners returns why none of a member's URLs for clients is known, empty if one may be. Of a list in
// which some URLs are only known in the pod, the others are.
func unknownListeners(s etcdconf.Config) string {
	partly := slices.ContainsFunc(s.ListenClient, func(u string) bool { return strings.ContainsAny(u, "$`") })
	if partly {
		return ""
	}
	return s.Unknown["listen-client-urls"]
}

// assumesDefault reports whether a launcher starts the member, and nothing shows its URLs for clients. Then it is
// likely to listen on etcd's default port.
func assumesDefault(s etcdconf.Config) bool {
	return s.Launcher != "" && s.Where["listen-client-urls"] == ""
}

// securePort reports whether a member serves TLS on the user's port.
func (f *finder) securePort(s etcdconf.Config) bool {
	at := slices.IndexFunc(s.ListenClient, func(u string) bool {
		l, err := listenerOf(u, "")
		return err == nil && unknownListeners(s) == "" && l.port == f.given.ClientPort
	})
	if at >= 0 {
		l, _ := listenerOf(s.ListenClient[at], "") // it was read above
		return l.secure
	}
	return f.given.tls() || s.ClientTLS.Cert != "" || s.ClientTLS.Auto
}

// reachableIP returns an IP of a pod at which its member listens, empty for none.
func reachableIP(pod *corev1.Pod, urls []string) string {
	ips := []string{pod.Status.PodIP}
	for _, ip := range pod.Status.PodIPs {
		ips = append(ips, ip.IP)
	}
	at := slices.IndexFunc(ips, func(ip string) bool {
		l, err := listens(urls, ip)
		return ip != "" && err == nil && l.address != ""
	})
	if at < 0 {
		return ""
	}
	return ips[at]
}

// adviseListener returns what a user can do if a port-forward reaches no listener. Nothing else
// passes gRPC through the API server: the proxy subresource of a pod speaks HTTP/1.
func (f *finder) adviseListener(pod *corev1.Pod, urls []string) string {
	const port = "if something else serves etcd on the pod's localhost, set its port with --client-port"
	ip := reachableIP(pod, urls)
	if f.given.Direct || ip == "" {
		return port
	}
	return "where this machine can connect to " + ip + ", for example in a pod of the cluster, use --direct; " + port
}
