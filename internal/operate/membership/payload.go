// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

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
