// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"net/netip"
	"slices"
	"strings"
)

// localHosts are names of the loopback address.
var localHosts = []string{"localhost", "localhost4", "localhost6", "localhost.localdomain", "ip6-localhost", "ip6-loopback"}

// IsLoopback reports whether a host is the loopback address, which each pod has for itself. The host is that of a URL,
// without the port. The brackets of an IPv6 address, a final dot and the case of a name don't count.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if slices.Contains(localHosts, host) || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}
