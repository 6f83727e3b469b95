// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Of reports whether a lease is the lock of a cluster, and returns the kind in lower case and the name
// of the cluster's owner. The name is empty if the lease's name is too long to contain it.
func Of(lease *coordinationv1.Lease) (kind, name string, is bool) {
	rest, named := strings.CutPrefix(lease.Name, NamePrefix)
	kind, name, split := strings.Cut(rest, "-")
	if !named || !split || kind == "" || name == "" {
		return "", "", false
	}
	if len(lease.Name) >= longestName {
		name = ""
	}
	return kind, name, true
}

// longestName is the length from which a name may be a shortened one.
const longestName = 236

// HasHolder reports whether a lease has a holder, alive or dead.
func HasHolder(lease *coordinationv1.Lease) bool { return holderOf(lease).Identity != "" }
