// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// unmanaged returns a *RefusedError if an operator or a start script manages the members of a cluster, or if the
// cluster has no StatefulSet.
func unmanaged(o owner.Owner, what string) error {
	m := o.Membership()
	switch {
	case o.Unmanaged(), m.Manager == flavour.BySets && !o.WithoutStatefulSet():
		return nil
	case m.Manager == flavour.Unmanaged, m.Manager == flavour.BySets:
		return &operate.RefusedError{What: what, Why: []string{"its pods have no StatefulSet"}}
	}
	return &operate.RefusedError{What: what, Why: []string{fmt.Sprintf("%s adds and removes its members; %s", m.ManagerName, m.ScaleHow)}}
}
