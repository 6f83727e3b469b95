// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

var cluster = owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 5}

// twoOfFive are two members of five that answer, with their index and revision.
func twoOfFive(change func(all []etcd.Member)) etcd.Survey {
	all := []etcd.Member{
		{Pod: "main-0", Revision: 100, RaftApplied: 140}, {Pod: "main-1", Err: errors.New("refused")}, {Pod: "main-2", Revision: 102, RaftApplied: 145},
		{Pod: "main-3", Err: errors.New("refused")}, {Pod: "main-4", Err: errors.New("refused")},
	}
	if change != nil {
		change(all)
	}
	return etcd.Survey{Members: all}
}

// TestFind: the member that has applied most is the source, unless the user chooses another one.
func TestFind(t *testing.T) {
	t.Parallel()
	corrupt := func(i int) func([]etcd.Member) {
		return func(all []etcd.Member) { all[i].Alarms = []string{"CORRUPT"} }
	}
	for _, row := range []struct {
		name, chosen string
		change       func([]etcd.Member)
		source       string
		refused      string
	}{
		{name: "furthest", source: "main-2"},
		{name: "equal", change: func(all []etcd.Member) { all[2].RaftApplied = 140 }, source: "main-0"},
		{name: "equal, with more in the log", change: func(all []etcd.Member) {
			all[2].RaftApplied = 140
			all[0].RaftIndex, all[2].RaftIndex = 140, 160
		}, source: "main-2"},
		{name: "more in the log, and less applied", change: func(all []etcd.Member) { all[0].RaftIndex, all[2].RaftIndex = 160, 145 }, source: "main-2"},
		{name: "a higher term of a member that was cut off", change: func(all []etcd.Member) { all[0].RaftTerm, all[2].RaftTerm = 9, 3 }, source: "main-2"},
		{name: "chosen", chosen: "main-0", source: "main-0"},
		{name: "chosen is lost", chosen: "main-1", refused: "main-1 is chosen with --member, and only main-0 and main-2 can"},
		{name: "no longer answers", change: func(all []etcd.Member) { all[2].Err = errors.New("refused") }, refused: "main-2 no longer answers"},
		{name: "corrupt", change: corrupt(0), refused: "main-0 reports that its data is corrupt; restore a backup, or choose another member with --member POD"},
		{name: "another is corrupt", chosen: "main-2", change: corrupt(0), source: "main-2"},
		{name: "chosen is corrupt", chosen: "main-0", change: corrupt(0), refused: "main-0 reports"},
	} {
		s, err := Find(cluster, twoOfFive(row.change), []string{"main-0", "main-2"}, row.chosen)
		if (err != nil) != (row.refused != "") || err != nil && !strings.Contains(err.Error(), row.refused) {
			t.Errorf("%s: %v, want %q", row.name, err, row.refused)
			continue
		}
		if err == nil && (s.Source.Pod != row.source || s.Revision() != 102 || len(s.All) != 2) {
			t.Errorf("%s: %+v, want %s", row.name, s, row.source)
		}
	}
}

// TestUnapplied: what is committed and not applied by the source is a fact of the plan, whichever survivor has it.
func TestUnapplied(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		indexes [2]uint64 // of main-0 and main-2, whose applied indexes are 140 and 145
		want    string
	}{
		{[2]uint64{140, 145}, ""},
		{[2]uint64{145, 145}, ""},
		{[2]uint64{140, 160}, "main-2 has committed raft entries up to index 160, and main-2 had applied those up to 145 when it was asked"},
		{[2]uint64{146, 145}, "main-0 has committed raft entries up to index 146, and main-2 had applied those up to 145 when it was asked"},
	} {
		s, err := Find(cluster, twoOfFive(func(all []etcd.Member) { all[0].RaftIndex, all[2].RaftIndex = row.indexes[0], row.indexes[1] }), []string{"main-0", "main-2"}, "")
		if err != nil {
			t.Fatal(err)
		}
		facts, err := s.Facts(cluster, etcd.Hashes{})
		if got := strings.Join(facts, "\n"); err != nil || !strings.Contains(got, row.want) || strings.Contains(got, "committed") != (row.want != "") {
			t.Errorf("%v: %s (%v), want %q", row.indexes, got, err, row.want)
		}
	}
}

// TestFacts: survivors with different data are not chosen by their index, and the user gets the way to decide.
func TestFacts(t *testing.T) {
	t.Parallel()
	equal := []etcd.Hash{{Pod: "main-0", Hash: 0xa, CompactRevision: 5}, {Pod: "main-2", Hash: 0xa, CompactRevision: 5}}
	differ := []etcd.Hash{equal[0], {Pod: "main-2", Hash: 0xb, CompactRevision: 5}}
	compacted := []etcd.Hash{equal[0], {Pod: "main-2", Hash: 0xb, CompactRevision: 9}}
	unknown := []etcd.Hash{equal[0], {Pod: "main-2", Err: errors.New("no hash")}}
	for _, row := range []struct {
		name, chosen string
		hashes       []etcd.Hash
		want         []string
		refused      bool
	}{
		{name: "equal", hashes: equal, want: []string{"main-2 has applied most: revision 102, index 145", "main-0 and main-2 have the same data at revision 100"}},
		{name: "different", hashes: differ, refused: true, want: []string{
			"the data of main-0 (hash a) and of main-2 (hash b) differs at revision 100",
			"kubectl etcd snapshot save statefulset/main main-0.db --member main-0 -n team; kubectl etcd snapshot save statefulset/main main-2.db --member main-2 -n team",
			"run the same command again with --member POD",
		}},
		{name: "different, chosen", chosen: "main-0", hashes: differ, want: []string{
			"main-0 is chosen with --member: revision 100, index 140; main-2 has applied more: revision 102, index 145",
			"the data of main-0 (hash a) and of main-2 (hash b) differs at revision 100: that of main-0 is restored",
		}},
		{name: "other compactions", hashes: compacted, want: []string{"it is not known whether all that answer have the same data: main-2 has compacted up to revision 9, another up to 5"}},
		{name: "no hash", hashes: unknown, want: []string{"it is not known whether all that answer have the same data: main-2: no hash"}},
	} {
		s, err := Find(cluster, twoOfFive(nil), []string{"main-0", "main-2"}, row.chosen)
		if err != nil {
			t.Fatal(err)
		}
		facts, err := s.Facts(cluster, etcd.Hashes{Revision: 100, Members: row.hashes})
		text := strings.Join(facts, "\n")
		if err != nil {
			text = err.Error()
		}
		for _, want := range row.want {
			if (err != nil) != row.refused || !strings.Contains(text, want) {
				t.Errorf("%s: %s, want %q", row.name, text, want)
			}
		}
	}
	alone, err := Find(cluster, twoOfFive(nil), []string{"main-2"}, "")
	if facts, differ := alone.Facts(cluster, etcd.Hashes{}); err != nil || differ != nil || len(facts) != 1 {
		t.Errorf("one that answers: %q, %v, %v", facts, err, differ)
	}
}

// TestSameSource: another member can't be chosen while a recovery continues.
func TestSameSource(t *testing.T) {
	t.Parallel()
	for chosen, refused := range map[string]bool{"": false, "main-2": false, "main-0": true} {
		if err := SameSource(cluster, "main-2", chosen); (err != nil) != refused {
			t.Errorf("%q: %v", chosen, err)
		}
	}
}
