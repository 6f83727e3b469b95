// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// TestDivided: the snapshots of an earlier StatefulSet of the same name are listed with its UID, and not among those of
// the present one.
func TestDivided(t *testing.T) {
	t.Parallel()
	const earlier, now, at = "01234567-89ab-cdef-0123-456789abcdef", "fedcba98-89ab-cdef-0123-456789abcdef", "-20260131T120000Z.db"
	c := v1alpha1.ClusterReference{Kind: "StatefulSet", Namespace: "team", Name: "main", UID: now}
	described := func(uid string) *v1alpha1.ClusterReference {
		return &v1alpha1.ClusterReference{Kind: "StatefulSet", Namespace: "team", Name: "main", UID: uid}
	}
	of, others := divided(Names{Namespace: "team", Name: "main", UID: now}, c, []v1alpha1.StoredSnapshot{
		{Name: "team.main." + earlier + at}, {Name: "team.main." + now + at}, {Name: "team.main" + at}, {Name: "team.main-20260131T130000Z.db", Cluster: described(earlier)},
		{Name: "team.main.two" + at}, {Name: "team.main.two." + earlier + at}, {Name: "notes.db"},
	})
	if len(of) != 2 || len(others) != 2 || others[0].Cluster.UID != earlier || others[1].Cluster.UID != earlier {
		t.Fatalf("its own are %v, others %v", of, others)
	}
	l := &v1alpha1.SnapshotList{Cluster: c, Schedule: &v1alpha1.SnapshotSchedule{}, Items: append(others, of...)}
	notes := strings.Join(Others(l), "; ")
	if !strings.Contains(notes, "1 snapshots are of another team/main, with UID "+earlier) || !strings.Contains(notes, "1 snapshots have a name of this cluster") {
		t.Errorf("the notes are %q", notes)
	}
}
