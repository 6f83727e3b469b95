// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// PlainHealthPort returns the port at which a pod's etcd reports its health without TLS, at the IP of the pod. It
// is empty if the pod shows none. No other object is read.
func PlainHealthPort(pod *corev1.Pod) string {
	config, err := parseShown(pod)
	if err != nil {
		return ""
	}
	for _, listens := range []struct {
		flag string
		urls []string
	}{{"listen-metrics-urls", config.ListenMetrics}, {"listen-client-urls", config.ListenClient}} {
		for _, text := range listens.urls {
			if port := plainPort(text); port != "" && config.Where[listens.flag] != "" {
				return port
			}
		}
	}
	return ""
}

// plainPort returns the port of a URL without TLS, unless its host is one of the loopback address. A reference such as
// $(POD_IP) as the host is the pod's own address.
func plainPort(text string) string {
	rest, plain := strings.CutPrefix(text, "http://")
	host, port, err := net.SplitHostPort(strings.TrimSuffix(rest, "/"))
	if !plain || err != nil || port == "" || strings.Trim(port, "0123456789") != "" {
		return ""
	}
	if IsLoopback(host) {
		return ""
	}
	return port
}
