// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// listener is a port on which a member serves.
type listener struct {
	port   int
	secure bool
	// address is the IP to dial directly, empty for a port-forward.
	address string
}

// listens returns the best listener of a member: one with TLS if there is one. Any usable URL
// is enough. The error lists every URL with the reason why it can't be used.
//
// A port-forward reaches only the pod's localhost: the container runtime enters the pod's
// network namespace and dials 127.0.0.1, then ::1. direct is the pod's IP if it may be dialled
// instead, otherwise empty. It then takes precedence over a port-forward.
func listens(urls []string, direct string) (listener, error) {
	var found []listener
	var reasons []string
	for _, u := range urls {
		at, err := listenerOf(u, direct)
		if err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		found = append(found, at)
	}
	if len(found) == 0 && len(reasons) == 0 {
		return listener{}, errors.New("none is set")
	}
	if len(found) == 0 {
		return listener{}, errors.New(strings.Join(reasons, "; "))
	}
	rank := func(l listener) int {
		better := 0
		if l.secure {
			better += 2
		}
		if l.address != "" {
			better++
		}
		return better
	}
	return slices.MaxFunc(found, func(a, b listener) int { return rank(a) - rank(b) }), nil
}

// computed matches a URL with a host that a script makes in the pod.
var computed = regexp.MustCompile("^(https?)://[^/]*[$`][^/]*:([0-9]+)/?$")

// listenerOf returns the listener of one URL, or why it can't be reached from outside.
func listenerOf(u, direct string) (listener, error) {
	if strings.ContainsAny(u, "$`") {
		if parts := computed.FindStringSubmatch(u); direct != "" && parts != nil {
			port, err := portOf(u, parts[2])
			return listener{port: port, secure: parts[1] == "https", address: direct}, err
		}
		return listener{}, fmt.Errorf("%q is computed inside the pod and can't be determined from outside", u)
	}
	parsed, err := url.Parse(u)
	if err != nil {
		return listener{}, fmt.Errorf("%q is not a valid URL", u)
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" {
		return listener{}, fmt.Errorf("%s is not reachable by network", u)
	}
	port, err := portOf(u, parsed.Port())
	if err != nil {
		return listener{}, err
	}
	at := listener{port: port, secure: parsed.Scheme == "https"}
	host := parsed.Hostname()
	switch ip := net.ParseIP(host); {
	case direct != "" && (host == "" || ip != nil && (ip.IsUnspecified() || ip.Equal(net.ParseIP(direct)))):
		at.address = direct
	case !forwardable(host):
		return listener{}, fmt.Errorf("%s doesn't listen on the pod's localhost, and a port-forward reaches nothing else", u)
	}
	return at, nil
}

// partly matches the scheme and the port of a URL of which only the pod knows the rest.
var partly = regexp.MustCompile("^(?:(https?)://)?.*?(?::([0-9]+)/?)?$")

// computedListener returns where a member is likely to serve if only the pod knows a part of its URLs: on the port that one of
// them shows, or on etcd's default port, with TLS unless the URL shows none. It returns false if the pod knows no more than the
// URLs show.
func computedListener(urls []string, direct string) (best listener, is bool) {
	shown := false
	for _, u := range urls {
		if !strings.ContainsAny(u, "$`") {
			continue
		}
		parts := partly.FindStringSubmatch(u)
		port, err := portOf(u, parts[2])
		at := listener{port: port, secure: parts[1] != "http", address: direct}
		if err != nil {
			at.port = defaultClientPort
		}
		if !is || at.secure && !best.secure || at.secure == best.secure && err == nil && !shown {
			best, is, shown = at, true, err == nil
		}
	}
	return best, is
}

func portOf(u, text string) (int, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	switch {
	case text == "":
		return 0, fmt.Errorf("%q has no port", u)
	case err != nil || port == 0:
		return 0, fmt.Errorf("%q has no valid port", u)
	}
	return int(port), nil
}

// forwardable reports whether a listener on this host accepts connections of a port-forward.
func forwardable(host string) bool {
	ip := net.ParseIP(host)
	if ip == nil {
		return host == "" || etcdconf.IsLoopback(host)
	}
	return ip.IsUnspecified() || ip.Equal(net.IPv4(127, 0, 0, 1)) || ip.Equal(net.IPv6loopback)
}

// local reports whether a host is no address of a single pod: localhost, or every address.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || etcdconf.IsLoopback(host) || ip != nil && ip.IsUnspecified()
}
