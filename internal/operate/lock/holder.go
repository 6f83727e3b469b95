// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"cmp"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// The annotations of a lock's lease.
const (
	// OperationAnnotation on a cluster's lock, a Lease, is the command that holds it.
	OperationAnnotation = "kubectl-etcd.dev/operation"
	// reasonAnnotation on a cluster's lock is the holder's --reason.
	reasonAnnotation = "kubectl-etcd.dev/reason"
)

// Holder is the process that holds a lock.
type Holder struct {
	// Identity is the user, host and process: ann@laptop (pid 4711).
	Identity string
	// Operation is the command that it runs.
	Operation string
	// Reason is its --reason, or empty.
	Reason string
	// Since is by the clock of the holder's machine, zero for unknown.
	Since time.Time
	// Renewed is when the lock was last renewed, by the same clock.
	Renewed time.Time
}

func (h Holder) String() string {
	text := cmp.Or(h.Identity, "an unknown process")
	if h.Operation != "" {
		text += fmt.Sprintf(" for %q", h.Operation)
	}
	if !h.Since.IsZero() {
		text += " since " + format.Time(h.Since)
	}
	if h.Reason != "" {
		text += fmt.Sprintf(" (reason: %s)", h.Reason)
	}
	return text
}

func holderOf(lease *coordinationv1.Lease) Holder {
	h := Holder{
		Identity:  format.PrintableLine(ptr.Deref(lease.Spec.HolderIdentity, "")),
		Operation: format.PrintableLine(lease.Annotations[OperationAnnotation]),
		Reason:    format.PrintableLine(lease.Annotations[reasonAnnotation]),
	}
	if t := lease.Spec.AcquireTime; t != nil {
		h.Since = t.Time
	}
	if t := lease.Spec.RenewTime; t != nil {
		h.Renewed = t.Time
	}
	return h
}

// HeldError is returned where another operation holds the cluster's lock and renews it.
type HeldError struct {
	// Cluster is the owner's name in messages, Lease is namespace/name.
	Cluster, Lease string
	Holder         Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is locked by %s. This process renews its lock: wait until it ends (lease %s)", e.Cluster, e.Holder, e.Lease)
}

// LostError is why an operation lost its lock before it ended.
type LostError struct {
	Lease string
	// Why is what happened: "bob@desk (pid 12) holds it now".
	Why string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("stopped before the next change: lock %s is lost: %s", e.Lease, e.Why)
}
