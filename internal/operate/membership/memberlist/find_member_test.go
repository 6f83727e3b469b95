// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestFindMember: a member is named by its ID, its name or its pod, and one that has never started by its host.
func TestFindMember(t *testing.T) {
	t.Parallel()
	s := etcd.Survey{List: []etcd.Listed{
		{ID: 0xa, Name: "main-0", Pod: "main-0"},
		{ID: 0xb, Name: "second", Pod: "main-1", PeerURLs: []string{"http://main-7.main:2380"}},
		{ID: 0xc, PeerURLs: []string{"http://main-3.main:2380"}},
		{ID: 0xd, Name: "twice"},
		{ID: 0xe, Name: "twice"},
	}}
	for word, want := range map[string]uint64{
		"a": 0xa, "0xb": 0xb, "main-0": 0xa, "pod/main-1": 0xb, "second": 0xb, "main-3": 0xc,
		"main-7": 0, // it has started, and its name is another one
		"twice":  0, "": 0, "main-9": 0,
	} {
		l, err := findMember(s, word)
		if l.ID != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %x, %v, want %x", word, l.ID, err, want)
		}
	}
}
