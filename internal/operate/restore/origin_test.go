// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// TestRestoreOrigin has a row per way in which a snapshot and the members may be of one etcd cluster or of two: what
// the record beside the snapshot has, what its database has, and what the members report.
func TestRestoreOrigin(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	const own, unsure, other = "own", "unsure", "other"
	record := func(uid, id string) func(*Plan) {
		return func(r *Plan) {
			r.Origin = Origin{Kind: r.Owner.Kind, Namespace: r.Owner.Namespace, Name: r.Owner.Name, UID: uid, ClusterID: id, Taken: created.Add(-24 * time.Hour)}
		}
	}
	members := func(url string, ids ...uint64) func(*Plan) {
		return func(r *Plan) {
			for _, id := range ids {
				r.Snapshot.Members = append(r.Snapshot.Members, snapshot.Member{ID: id, Name: "main-0", PeerURLs: []string{url}})
			}
		}
	}
	const peer = "http://main-0.main.team.svc:2380"
	since := func(r *Plan) { r.Origin.Taken = created.Add(48 * time.Hour) }
	silent := func(r *Plan) { r.ClusterIDs, r.List, r.Newest = nil, nil, 0 }
	for _, row := range []struct {
		row     string
		changes []func(*Plan)
		want    string
		// text is a part of the warnings.
		text string
	}{
		{"no record, and no members in the database", nil, own, ""},
		{"the record has the same IDs", []func(*Plan){record("u1", "00000000000000c1")}, own, ""},
		{"the record has the same cluster ID, and no UID", []func(*Plan){record("", "00000000000000c1")}, own, ""},
		{"the record has another name", []func(*Plan){record("u1", "00000000000000c1"), func(r *Plan) { r.Origin.Name = "prod" }}, other, "as the file beside it shows: StatefulSet team/prod (cluster ID 00000000000000c1)"},
		{"the record has another namespace", []func(*Plan){record("u1", ""), func(r *Plan) { r.Origin.Namespace = "prod" }}, other, "StatefulSet prod/main"},
		{"another Kubernetes cluster, another cluster ID", []func(*Plan){record("u9", "00000000000000c9")}, other,
			"StatefulSet team/main (cluster ID 00000000000000c9, UID u9). StatefulSet team/main here has cluster ID 00000000000000c1 and UID u1"},
		{"another Kubernetes cluster with the same flags, and so the same cluster ID", []func(*Plan){record("u9", "00000000000000c1"), since}, other, "UID u9"},
		{"created again with its data, or another Kubernetes cluster", []func(*Plan){record("u9", "00000000000000c1")}, unsure, "either it was created again since, or the snapshot is of another cluster of that name"},
		{"taken just after it was created again, by a clock that differs", []func(*Plan){record("u9", "00000000000000c1"), func(r *Plan) { r.Origin.Taken = created.Add(time.Minute) }}, unsure, "UID u9"},
		{"another object, and no member answers", []func(*Plan){record("u9", "00000000000000c9"), silent}, unsure, "UID u9"},
		{"another object taken since, and no member answers", []func(*Plan){record("u9", "00000000000000c9"), since, silent}, other, "here has cluster ID unknown and UID u1"},
		{"restored since: the same object, another cluster ID", []func(*Plan){record("u1", "00000000000000c0")}, unsure, "has cluster ID 00000000000000c0, and the members have 00000000000000c1: the cluster was restored or started again since."},
		{"another cluster ID, and no UID", []func(*Plan){record("", "00000000000000c0")}, unsure, "restored or started again since, or the snapshot is of another cluster"},
		{"an object of another kind", []func(*Plan){record("u9", "00000000000000c1"), func(r *Plan) { r.Origin.Kind = "Etcd" }}, own, ""},
		{"no member answers", []func(*Plan){record("u1", "00000000000000c0"), silent}, own, ""},
		{"no record: the same members", []func(*Plan){members(peer, 0xa)}, own, ""},
		{"no record: members replaced, of which one is the same", []func(*Plan){members(peer, 0xf, 0xa)}, own, ""},
		{"no record: the same peer URLs and other IDs", []func(*Plan){members(peer, 0xf)}, unsure, "none of its members has the ID of a member that this cluster has"},
		{"no record: other members", []func(*Plan){members("http://x:2380", 0xf)}, unsure, "it has other members than this cluster (main-0)"},
		{"no record: made by etcdutl", []func(*Plan){members("http://localhost:2380", 0xf)}, own, ""},
		{"no record: no member answers", []func(*Plan){members(peer, 0xf), silent}, own, ""},
		{"the record counts more than the members in the database", []func(*Plan){members(peer, 0xf), record("u1", "00000000000000c1")}, own, ""},
		{"saved from a survivor", []func(*Plan){record("u9", "00000000000000c9"), func(r *Plan) { r.Saved = true }}, own, ""},
	} {
		r := plainRestore()
		r.Owner.UID, r.Owner.Created = "u1", metav1.NewTime(created)
		r.Members[0].PeerURL = peer
		r.List = []etcd.Listed{{ID: 0xa, PeerURLs: []string{peer}}}
		r.ClusterIDs, r.Newest, r.Snapshot.Revision = []string{"00000000000000c1"}, 500, 500
		for _, change := range row.changes {
			change(&r)
		}
		got, text := own, strings.Join(r.warnings(), ".\n")+".\n"+r.Propose(nil, nil).Unconfirmed
		switch {
		case r.other() != "":
			got = other
		case r.doubt() != "":
			got = unsure
		}
		if got != row.want || !strings.Contains(text, row.text) {
			t.Errorf("%s: %s, want %s, %q:\n%s", row.row, got, row.want, row.text, text)
		}
		checkLoss(t, row.row, got == own, r)
		if confirms := strings.Contains(text, "with -y, add --from-other-cluster"); confirms != (got == other) {
			t.Errorf("%s: -y confirms it: %t", row.row, !confirms)
		}
	}
}

// checkLoss: revisions are only compared within one etcd cluster.
func checkLoss(t *testing.T, row string, own bool, r Plan) {
	t.Helper()
	all := strings.Join(r.warnings(), "\n")
	counted := strings.Contains(r.lost(), "they have nothing that is newer than the snapshot") || r.Newest == 0
	if counted != (own || r.Newest == 0) || strings.Contains(r.lost(), "it is not known what is lost") != (!own && r.Newest > 0) {
		t.Errorf("%s: %s", row, r.lost())
	}
	if is := strings.Contains(r.lost(), "is of another etcd cluster"); is != (r.other() != "" && r.Newest > 0) {
		t.Errorf("%s: %s", row, r.lost())
	}
	if strings.Contains(all, "it is not known what is lost") == own || strings.Contains(all, fmt.Sprintf("written after revision %d is lost", r.Snapshot.Revision)) != own {
		t.Errorf("%s:\n%s", row, all)
	}
}
