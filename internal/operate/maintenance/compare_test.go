// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

func TestComparison(t *testing.T) {
	t.Parallel()
	hash := func(pod string, hash uint32, compacted int64) etcd.Hash {
		return etcd.Hash{Pod: pod, Hash: hash, CompactRevision: compacted}
	}
	for _, c := range []struct {
		name string
		of   []etcd.Hash
		want maintenance.Comparison
	}{
		{"no member was asked", nil, maintenance.Comparison{Revision: 9}},
		{"the same", []etcd.Hash{hash("a-0", 7, 3), hash("a-1", 7, 3)}, maintenance.Comparison{Revision: 9, Groups: [][]string{{"a-0", "a-1"}}}},
		{"one differs", []etcd.Hash{hash("a-0", 7, 3), hash("a-1", 8, 3), hash("a-2", 7, 3)},
			maintenance.Comparison{Revision: 9, Groups: [][]string{{"a-0", "a-2"}, {"a-1"}}}},
		{"0 is a hash, too", []etcd.Hash{hash("a-0", 0, -1), hash("a-1", 7, -1)}, maintenance.Comparison{Revision: 9, Groups: [][]string{{"a-0"}, {"a-1"}}}},
		{"another history", []etcd.Hash{hash("a-0", 7, 3), hash("a-1", 7, 5)},
			maintenance.Comparison{Revision: 9, Groups: [][]string{{"a-0"}}, Unknown: "a-1 has compacted up to revision 5, another up to 3; try again"}},
		{"one refuses", []etcd.Hash{hash("a-0", 7, 3), {Pod: "a-1", Err: errors.New("needs root")}},
			maintenance.Comparison{Revision: 9, Groups: [][]string{{"a-0"}}, Unknown: "a-1: needs root"}},
	} {
		if diff := cmp.Diff(c.want, comparison(etcd.Hashes{Revision: 9, Members: c.of})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
