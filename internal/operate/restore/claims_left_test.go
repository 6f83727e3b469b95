// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestLeftClaims: members that the restored cluster doesn't have lose their claims at the end, so that no old majority
// starts beside it when the StatefulSet gets more replicas.
func TestLeftClaims(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		size int32
		gone []string
		want string
	}{
		{3, nil, ""},
		{1, nil, "data-main-1 data-main-2"},
		{2, nil, "data-main-2"},
		{1, []string{"data-main-1"}, "data-main-1 data-main-2"}, // it may come until then
		{1, []string{"data-main-1", "data-main-2"}, ""},
	} {
		cluster := operatetest.NewCluster(t)
		for _, name := range row.gone {
			cluster.Remove(operatetest.Path("PersistentVolumeClaim", name))
		}
		r := foundIn(t, cluster, row.size)
		if got := strings.Join(r.leftClaims(), " "); got != row.want {
			t.Errorf("%+v: left are %q", row, got)
		}
		steps, warnings, err := Steps(r)
		if err != nil {
			t.Fatal(err)
		}
		deleted := "delete pvc --ignore-not-found " + row.want
		at := slices.IndexFunc(steps, func(s step.Step) bool { return strings.Contains(fmt.Sprint(s.Commands(step.Flags{})), deleted) })
		open := slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == letIn })
		if row.want != "" && at < open || row.want == "" && at >= 0 {
			t.Errorf("%+v: the claims are deleted by step %d, and clients are let in by step %d", row, at, open)
		}
		if warned := strings.Contains(strings.Join(warnings, "; "), "they would start as the old cluster"); warned != (row.want != "") {
			t.Errorf("%+v: warned %t", row, warned)
		}
		if rec := NewRecord(r); (rec.OldSize > 0) != (row.want != "") {
			t.Errorf("%+v: the record has an old size of %d", row, rec.OldSize)
		}
	}
	shared := changed(plainRestore(), func(r *Plan) { r.OldSize, r.Files.Claims = 5, []string{"shared"} })
	if left := shared.leftClaims(); len(left) > 0 {
		t.Errorf("the claim that all members share would be deleted: %q", left)
	}
}

// TestUndone: of members that start one after the other, only the first starts. Without a quorum, what was saved of them is
// the source that remains.
func TestUndone(t *testing.T) {
	t.Parallel()
	all := plainRestore()
	one := changed(plainRestore(), func(r *Plan) { r.OneByOne = true })
	after := &progress.Record{Done: slices.IndexFunc(all.steps(), func(s step.Step) bool { return s.ID == stopped })}
	for _, row := range []struct {
		r    Plan
		rec  *progress.Record
		want string
	}{
		{all, &progress.Record{}, "the members have not been stopped"},
		{all, after, "the members start on their old data"},
		{one, after, "how to start them all: kubectl etcd -n team check statefulset/main --only W009"},
		{changed(one, func(r *Plan) { r.Owner.Replicas = 1 }), after, "the members start on their old data"},
		{all, &progress.Record{Done: after.Done, Survivor: "main-0", File: "main survivor.db"}, "Without a quorum, they answer no client, and recover refuses. What main-0 had is in the file main survivor.db of the directory in which the command began: keep it. To restore it: kubectl etcd -n team snapshot restore 'main survivor.db' statefulset/main --allow-unsaved"},
		{all, &progress.Record{Done: after.Done, Answers: true}, "What the members had is in the file " + all.savedFile() + " of the directory"},
	} {
		if got := row.r.Undone(row.rec); !strings.Contains(got, row.want) {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
	for name, rec := range map[string]*progress.Record{"not stopped": {Survivor: "main-0", File: "main.db"}, "a quorum": {Done: after.Done, Answers: true, Led: true}, "nothing saved": after} {
		if got := all.Undone(rec); strings.Contains(got, "To restore it") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
