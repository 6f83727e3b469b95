// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// Removal is what is known of a rollout that is held when etcd-webhook is removed. After that, only the
// StatefulSet's controller continues it, without regard for the health of etcd. The zero Removal is of a
// cluster of which nothing is known.
type Removal struct {
	// Unread is why the cluster can't be read, empty if it was read.
	Unread string
	// Stopped is true if the StatefulSet has no replicas.
	Stopped bool
	// NotEtcd is true if the StatefulSet runs no etcd.
	NotEtcd bool
	// Cluster is the cluster that the StatefulSet runs, alone or with others.
	Cluster policy.Cluster
}

// StaysHeld returns why the rollout stays held, without a full stop. It is empty if the rollout may be
// released. With podManagementPolicy Parallel, the StatefulSet's controller restarts a member beside one
// that is down. So a release needs what each other operation needs that stops a member.
func (r Removal) StaysHeld() string {
	c := r.Cluster
	c.Operation = "" // this rollout
	switch {
	case r.Stopped, r.NotEtcd: // nothing restarts, or no member does
		return ""
	case r.Unread != "":
		return "its cluster can't be read: " + r.Unread
	case c.Size == 0:
		return "nothing is known of its members"
	case c.SizeUnknown != "":
		return "it is not known which other members the cluster has (" + c.SizeUnknown + ")"
	case c.Single(): // its restart interrupts the cluster in any case
		return ""
	}
	if v := policy.Precondition(c, ""); !v.Allowed {
		return v.Message
	}
	return ""
}
