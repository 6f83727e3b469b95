// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// payload is a Change as in its journal. Its names are part of the journal's format,
// and must not change with those of package policy: another version reads them.
type payload struct {
	Operation  membership.Operation
	Target     int
	Replicas   int
	OnDelete   bool
	Partition  int
	KeepClaims bool
	Ordinal    int `json:"Place"`
	Member     uint64
	UID        string
	Claims     []string
	Undo       bool

	found
}

func payloadOf(j *Change) payload {
	r := j.Record
	return payload{
		Operation: r.Operation, Target: r.Target, Replicas: r.Replicas, OnDelete: r.OnDelete, Partition: r.Partition, KeepClaims: r.KeepClaims,
		Ordinal: r.Ordinal, Member: r.Member, UID: r.UID, Claims: r.Claims, Undo: r.Undo, found: j.Found,
	}
}

func (p payload) record() membership.Record {
	return membership.Record{
		Operation: p.Operation, Target: p.Target, Replicas: p.Replicas, OnDelete: p.OnDelete, Partition: p.Partition, KeepClaims: p.KeepClaims,
		Ordinal: p.Ordinal, Member: p.Member, UID: p.UID, Claims: p.Claims, Undo: p.Undo,
	}
}

// known reports whether this version can resume the operation.
func (p payload) known() bool {
	return slices.Contains([]membership.Operation{membership.ScaleOut, membership.ScaleIn, membership.Replace}, p.Operation)
}

// checkNumbers returns an error for numbers that no operation has. Every user who may write ConfigMaps
// may have changed them, and a resumed operation reads each ordinal below them.
func (p payload) checkNumbers() error {
	size := func(n int) bool { return n >= 0 && n <= owner.MaxMembersRead }
	replaced := p.Operation != membership.Replace || p.Ordinal >= 0 && p.Ordinal < p.Replicas
	if size(p.Target) && size(p.Replicas) && p.Partition >= 0 && replaced {
		return nil
	}
	return fmt.Errorf("no operation has %d replicas, the target %d, partition %d and ordinal %d, so another client has changed it: restore its earlier contents",
		p.Replicas, p.Target, p.Partition, p.Ordinal)
}
