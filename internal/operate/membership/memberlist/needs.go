// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Needs returns the permissions of an operation that only changes etcd's member list.
func Needs(o owner.Owner) []operate.Need {
	return []operate.Need{
		{Verb: "list", Resource: "pods", Namespace: o.Namespace},
		{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: o.Namespace},
	}
}
