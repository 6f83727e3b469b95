// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestFindLeavingClaim: the data of a claim that is being deleted is lost when the members stop, so nothing is stopped.
func TestFindLeavingClaim(t *testing.T) {
	t.Parallel()
	cluster := operatetest.NewCluster(t)
	claim := cluster.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1"))
	operatetest.Field(claim, "metadata")["deletionTimestamp"] = "2026-11-20T12:00:00Z"
	operatetest.Field(claim, "spec")["volumeName"] = "pv-1"
	r := foundIn(t, cluster, 3)
	const want = `PersistentVolumeClaim data-main-1 is being deleted, and the data is lost when no pod mounts it any more. Keep the volumes first: kubectl patch pv pv-1 -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`
	if _, _, err := Steps(r); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestClaimsChangedSince has what an unfinished restore does about claims that other clients have deleted since, before
// each of its steps. Those that it deletes itself are no obstacle.
func TestClaimsChangedSince(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	all := r.steps()
	at := func(id string) int { return slices.IndexFunc(all, func(s step.Step) bool { return s.ID == id }) }
	for _, row := range []struct {
		id      string
		gone    []string
		leaving []LeavingClaim
		resume  string // a part of the refusal, empty for none
		undo    string
	}{
		{id: stopped},
		{id: stopped, gone: []string{"data-main-1"}, resume: "PersistentVolumeClaim data-main-1 is gone since", undo: "members would start on new volumes, without data"},
		{id: renamed, gone: []string{"data-main-1"}, resume: "Create each again", undo: "kubectl etcd -n team status statefulset/main shows the command"},
		{id: stopped, leaving: []LeavingClaim{{"data-main-1", "pv-1"}}, resume: "kubectl patch pv pv-1"},
		{id: started, leaving: []LeavingClaim{{"data-main-1", "pv-1"}}, resume: "kubectl patch pv pv-1", undo: "kubectl patch pv pv-1"},
		{id: letIn, gone: []string{"data-main-1"}, leaving: []LeavingClaim{{"data-main-2", "pv-2"}}, undo: "clients have been let in"},
	} {
		rec := &progress.Record{Done: at(row.id)}
		u := changed(r, func(r *Plan) { r.Leaving = row.leaving })
		u.changedClaims(rec, row.gone)
		if err := u.MayContinue(rec); (err != nil) != (row.resume != "") || err != nil && !strings.Contains(err.Error(), row.resume) {
			t.Errorf("before %q, gone %q: %v, want %q", row.id, row.gone, err, row.resume)
		}
		if _, err := u.Undo(rec); (err != nil) != (row.undo != "") || err != nil && !strings.Contains(err.Error(), row.undo) {
			t.Errorf("before %q, gone %q, the undoing: %v, want %q", row.id, row.gone, err, row.undo)
		}
	}
}
