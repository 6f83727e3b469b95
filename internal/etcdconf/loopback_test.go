// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import "testing"

// TestIsLoopback checks which hosts are the loopback address.
func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		host string
		want bool
	}{
		{"127.0.0.1", true},
		{"127.0.0.1.", true},
		{"127.255.0.9", true},
		{"126.0.0.1", false},
		{"::1", true},
		{"[::1]", true},
		{"0:0:0:0:0:0:0:1", true},
		{"::1%lo", true},
		{"::ffff:127.0.0.1", true},
		{"[::ffff:127.1.2.3]", true},
		{"::ffff:10.0.0.1", false},
		{"localhost", true},
		{"localhost.", true},
		{"LOCALHOST", true},
		{"LocalHost.LocalDomain.", true},
		{"ip6-loopback", true},
		{"etcd.localhost", true},
		{"ETCD.Localhost.", true},
		{"localhost.etcd", false},
		{"notlocalhost", false},
		{"etcd-0.etcd", false},
		{"10.0.0.1", false},
		{"0.0.0.0", false},
		{"::", false},
		{"", false},
		{".", false},
		{"$(POD_IP)", false},
		// These are not hosts.
		{"127.0.0.1:2379", false},
		{"localhost:2379", false},
		{"[::1]:2379", false},
		{"http://localhost", false},
	} {
		if got := IsLoopback(row.host); got != row.want {
			t.Errorf("IsLoopback(%q) = %t, want %t", row.host, got, row.want)
		}
	}
}
