// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestOfVolumes: of volumes and members that answer, the one with the highest revision is restored, unless the user chooses another
// one. Corrupt data and that of another cluster are never taken without a choice.
func TestOfVolumes(t *testing.T) {
	t.Parallel()
	volumes := []etcd.Member{{Pod: "main-0", Revision: 100, ClusterID: 7}, {Pod: "main-2", Revision: 102, ClusterID: 7}, {Pod: "main-4", Revision: 102, ClusterID: 7}}
	answers := func(revision int64, cluster uint64) Set {
		m := etcd.Member{Pod: "main-1", Revision: revision, ClusterID: cluster}
		return Set{Source: m, All: []etcd.Member{m}}
	}
	for _, row := range []struct {
		name, chosen string
		answering    Set
		change       func([]etcd.Member)
		want         string // the source, or the refusal
	}{
		{name: "furthest", want: "main-2"},
		{name: "chosen", chosen: "main-0", want: "main-0"},
		{name: "one that answers has less", answering: answers(101, 7), want: "main-2"},
		{name: "one that answers has as much", answering: answers(102, 7), want: "main-1"},
		{name: "one that answers is chosen", chosen: "main-1", answering: answers(10, 7), want: "main-1"},
		{name: "one that answers is of another cluster", answering: answers(101, 8), want: "the data of main-1 is of etcd cluster 0000000000000008, and that of main-2 of etcd cluster 0000000000000007; choose one with --member POD"},
		{name: "it is chosen", chosen: "main-1", answering: answers(101, 8), want: "main-1"},
		{name: "of another cluster", change: func(all []etcd.Member) { all[0].ClusterID = 8 }, want: "the data of main-0 is of etcd cluster 0000000000000008"},
		{name: "of another cluster, and another one chosen", chosen: "main-2", change: func(all []etcd.Member) { all[0].ClusterID = 8 }, want: "main-2"},
		{name: "corrupt", change: func(all []etcd.Member) { all[1].Alarms = []string{"CORRUPT"} }, want: "the data of main-2 is known to be corrupt; restore a backup"},
		{name: "corrupt and chosen", chosen: "main-2", change: func(all []etcd.Member) { all[1].Alarms = []string{"CORRUPT"} }, want: "the data of main-2 is known to be corrupt"},
		{name: "corrupt, and another one chosen", chosen: "main-4", change: func(all []etcd.Member) { all[1].Alarms = []string{"CORRUPT"} }, want: "main-4"},
	} {
		read := slices.Clone(volumes)
		if row.change != nil {
			row.change(read)
		}
		s, err := OfVolumes(cluster, read, row.answering, row.chosen)
		got := s.Source.Pod
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row.want) || err == nil && s.Revision() != 102 {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// TestVolumes: the plan has what was read, and that it was not compared.
func TestVolumes(t *testing.T) {
	t.Parallel()
	read := []etcd.Member{{Pod: "main-0", Revision: 100}, {Pod: "main-2", Revision: 102}}
	facts := strings.Join(Volumes(read), "; ")
	for _, want := range []string{"main-2 doesn't answer, and its volume has revision 102", "not known whether these volumes have the same data"} {
		if !strings.Contains(facts, want) {
			t.Errorf("%s, want %q", facts, want)
		}
	}
}

// TestSameRead: no volume is read while a recovery continues that began without it.
func TestSameRead(t *testing.T) {
	t.Parallel()
	for volumes, refused := range map[string]bool{"": false, "main-0": false, "main-1": true, "main-0 main-1": true} {
		if err := SameRead(cluster, []string{"main-0"}, strings.Fields(volumes)); (err != nil) != refused {
			t.Errorf("%q: %v", volumes, err)
		}
	}
}
