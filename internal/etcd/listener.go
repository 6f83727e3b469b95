// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// listener is a port on which a member serves.
type listener struct {
	port   int
	secure bool
}

// listens returns the listener that a port-forward reaches. It prefers one with TLS. A
// port-forward ends at the kubelet, which dials localhost in the pod.
func listens(urls []string) (listener, error) {
	var found []listener
	for _, u := range urls {
		parsed, err := url.Parse(u)
		if err != nil || strings.ContainsAny(u, "$`") {
			return listener{}, fmt.Errorf("%q is computed inside the pod and can't be determined from outside", u)
		}
		if parsed.Scheme != "http" && parsed.Scheme != "https" || !local(parsed.Hostname()) {
			continue
		}
		port, err := strconv.Atoi(parsed.Port())
		if err != nil {
			return listener{}, fmt.Errorf("%q has no port", u)
		}
		found = append(found, listener{port: port, secure: parsed.Scheme == "https"})
	}
	for _, l := range found {
		if l.secure {
			return l, nil
		}
	}
	if len(found) == 0 {
		return listener{}, fmt.Errorf("%s: none of them listens on the pod's localhost, and a port-forward reaches nothing else", strings.Join(urls, ","))
	}
	return found[0], nil
}

// local reports whether a listener on this host accepts connections to localhost.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || host == "" || ip != nil && (ip.IsUnspecified() || ip.IsLoopback())
}

// metricsListener returns the listener for metrics: a separate one if it is configured,
// otherwise the one for clients' HTTP.
func metricsListener(s etcdconf.Config, clients listener) listener {
	for _, urls := range [][]string{s.ListenMetrics, s.ListenClientHTTP} {
		if len(urls) == 0 {
			continue
		}
		if at, err := listens(urls); err == nil {
			return at
		}
	}
	return clients
}
