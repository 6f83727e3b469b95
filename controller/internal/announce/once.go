// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package announce

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Once holds which notes were announced for each cluster, so that each is
// announced once for as long as it holds. The zero value is ready.
type Once struct {
	memory.Keyed[owner.Key, []string]
}

// Fresh returns the notes that were not among those of the last call for key. Two notes are
// the same if identify returns the same for them.
func (a *Once) Fresh(key owner.Key, notes []policy.Note, identify func(policy.Note) string) []policy.Note {
	var ids []string
	for _, n := range notes {
		ids = append(ids, identify(n))
	}
	before, _ := a.Swap(key, ids)
	var out []policy.Note
	for i, n := range notes {
		if !slices.Contains(before, ids[i]) && !slices.Contains(ids[:i], ids[i]) {
			out = append(out, n)
		}
	}
	return out
}
