// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestAgainst: a survivor is not restored if a backup has more, unless the user chooses the survivor.
func TestAgainst(t *testing.T) {
	t.Parallel()
	sidecars := func(full, delta int64) Backups {
		return Backups{Leases: []backupstore.Lease{{Type: "Full", Name: "main-full-snap", Revision: full}, {Type: "Delta", Name: "main-delta-snap", Revision: delta}}}
	}
	job := Backups{Leases: []backupstore.Lease{{Type: "Backup", Name: "nightly", Revision: 5000}}}
	for _, row := range []struct {
		name          string
		backups       Backups
		chosen        bool
		fact, refused string // a part
	}{
		{name: "no backup"},
		{name: "never written", backups: sidecars(0, 0)},
		{name: "older", backups: sidecars(3000, 3999)},
		{name: "the same", backups: sidecars(3000, 4000)},
		{name: "a newer delta", backups: sidecars(3000, 5000), refused: "main-2 has revision 4000, and the backups have revision 5000, by Lease main-delta-snap: data that only the backups have would be lost\n  - To list the backups: kubectl etcd snapshot list statefulset/main -n team\n  - To restore one: kubectl etcd snapshot restore FILE statefulset/main -n team (FILE is a full snapshot, of which the newest has revision 3000; "},
		{name: "a newer delta without a full one", backups: sidecars(0, 5000), refused: "(FILE is a full snapshot, and no Lease shows that there is one; only"},
		{name: "a newer full one", backups: sidecars(5000, 4500), refused: "restore FILE statefulset/main -n team\n  - To restore the data of main-2 anyway, for example because the backups are of an earlier cluster: kubectl etcd recover statefulset/main -n team --member main-2"},
		{name: "of a job", backups: job, refused: "by Lease nightly"},
		{name: "of a job, chosen", backups: job, chosen: true, fact: "the backups have revision 5000, by Lease nightly: what only they have after revision 4000 is not restored"},
		{name: "unreadable", backups: Backups{Err: errors.New("forbidden")}, fact: "it is not known whether a backup has more than main-2: forbidden"},
	} {
		s := Set{Source: etcd.Member{Pod: "main-2", Revision: 4000}, Chosen: row.chosen}
		s.All = []etcd.Member{s.Source}
		o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}
		fact, err := s.Against(o, row.backups)
		if (err != nil) != (row.refused != "") || err != nil && !strings.Contains(err.Error(), row.refused) {
			t.Errorf("%s: %v, want %q", row.name, err, row.refused)
		}
		if fact != row.fact {
			t.Errorf("%s: the fact is %q, want %q", row.name, fact, row.fact)
		}
	}
}
