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

// listener is a port that a member serves at.
type listener struct {
	port   int
	secure bool
}

// listens picks the URL that a port-forward reaches, with TLS before without.
// The kubelet, which ends it, dials localhost in the pod.
func listens(urls []string) (listener, error) {
	var found []listener
	for _, u := range urls {
		parsed, err := url.Parse(u)
		if err != nil || strings.ContainsAny(u, "$`") {
			return listener{}, fmt.Errorf("%q is put together in the pod and can't be told from outside", u)
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
		return listener{}, fmt.Errorf("%s: none of them is on the pod's localhost, and a port-forward reaches nothing else", strings.Join(urls, ","))
	}
	return found[0], nil
}

// local says whether who listens at the host hears localhost.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || host == "" || ip != nil && (ip.IsUnspecified() || ip.IsLoopback())
}

// metricsListener is where the member serves metrics: apart where it is told so,
// else where it serves clients by HTTP.
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
