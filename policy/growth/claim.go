// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Claim is the volume claim with the data of one member.
type Claim struct {
	Pod string
	// Name is empty if the data is in no claim. Then Elsewhere is where it is, as text: "in emptyDir data".
	Name, Elsewhere string
	// Trouble is why the claim can't be used, as text: "it is being deleted". It is empty for a bound claim.
	Trouble string
	// Class is its storage class, empty for none. Expands is true if the class allows expansion.
	Class   string
	Expands bool
	// Request and Capacity are what the claim requests and what its volume has, in bytes.
	Request, Capacity int64
	// Failure is what the storage driver reports about a resize that failed, empty for none.
	Failure string
	// NeedsRestart is true if the volume has grown, and the file system grows only in a new pod. It is false
	// once there is a new pod.
	NeedsRestart bool
}

// Grown reports whether the claim requests a size and its volume has it.
func (c Claim) Grown(size int64) bool { return c.Request >= size && c.Capacity >= size }

// MayGrow returns whether a claim can get a size. The rows of docs/rules/growth.md are in the same order; the
// first that applies wins.
func MayGrow(c Claim, size int64) policy.Verdict {
	switch {
	case c.Name == "":
		return policy.Refuse(NoClaim, "the data of %s is %s, and only a volume claim can grow", c.Pod, c.Elsewhere)
	case c.Trouble != "":
		return policy.Refuse(ClaimUnusable, "volume claim %s of %s can't grow: %s", c.Name, c.Pod, c.Trouble)
	case c.Request > size:
		return policy.Refuse(SmallerSize, "volume claim %s of %s requests %s already, and a volume never shrinks", c.Name, c.Pod, policy.Bytes(c.Request))
	case c.Request == size:
		return policy.Allow(SizeRequested, "volume claim %s of %s requests that size already", c.Name, c.Pod)
	case c.Capacity > size:
		return policy.Refuse(SmallerSize, "the volume of claim %s of %s has %s already, and a volume never shrinks", c.Name, c.Pod, policy.Bytes(c.Capacity))
	case c.Class == "":
		return policy.Refuse(NotExpandable, "volume claim %s of %s has no storage class, so no driver can resize its volume", c.Name, c.Pod)
	case !c.Expands:
		return policy.Refuse(NotExpandable, "StorageClass %s of volume claim %s does not have allowVolumeExpansion: true", c.Class, c.Name)
	}
	return policy.Allow(Expandable, "StorageClass %s of volume claim %s allows expansion", c.Class, c.Name)
}
