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
	// Recorded is the reason by which etcd-webhook recorded last that a member is not in order, if the pods and the
	// leases that were read may not show it. It is empty for none.
	Recorded string
	// Hidden is true if a member may not be in order although the pods and the leases that were read show that it is.
	Hidden bool
	// Unconfirmed is true while the health of a member depends on a lease that was read for the first time.
	Unconfirmed bool
	// PeersMove is true if a pod that would restart listens for peers on other schemes or ports than with the
	// newest template, as in Pod, and InParts if no coordinated restart can restart all members of the cluster.
	PeersMove, InParts bool
	// First is another StatefulSet of the cluster whose pods restart before those of this one, empty for none.
	First string
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
	if r.Recorded != "" {
		return "etcd-webhook recorded last that not all of its members are in order (" + r.Recorded + "), and its pods may not show it"
	}
	if r.Unconfirmed {
		return "it is not known yet whether its members still renew their leases"
	}
	if r.PeersMove {
		return "with its new template, the members listen for peers on another scheme or port, so members that restart one by one would lose each other: " + r.wayOfPeers()
	}
	if r.First != "" {
		return "its members would restart beside those of StatefulSet " + r.First + ", which are the first"
	}
	return ""
}

// wayOfPeers returns how such a rollout ends, without a full stop.
func (r Removal) wayOfPeers() string {
	if r.InParts {
		return "restore the previous scheme and port in the template, because these members can't all be restarted at once"
	}
	return "restore the template, or set spec.updateStrategy.type of the StatefulSet to OnDelete, then restart all members at once: kubectl etcd restart " + r.Cluster.TargetArgs() + " --strategy coordinated"
}
