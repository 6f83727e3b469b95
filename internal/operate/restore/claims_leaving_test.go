// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestFindLeavingClaim: the data of a claim that is being deleted is lost when the members stop, so nothing is stopped, and
// no pod is to be deleted: its member may be the only one that answers. Once the volume stays without its claim, the same
// command gives the member a new claim.
func TestFindLeavingClaim(t *testing.T) {
	t.Parallel()
	const (
		going = "PersistentVolumeClaim data-main-1 is being deleted, and the data is lost when no pod mounts it any more. "
		save  = "Save the data first: kubectl etcd -n team snapshot save statefulset/main main.db. Keep the volumes first: "
		keep  = `kubectl patch pv pv-1 -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`
		again = ". Then run the same command again: it gives the members new claims, and the volumes stay, as PersistentVolumes that are Released. Delete no pod before that"
	)
	for _, row := range []struct {
		name, policy string // of the volume
		change       func(*Plan)
		want         string // the refusal, empty for none
	}{
		{"no member answers", "Delete", func(*Plan) {}, going + "Keep the volumes first: " + keep + again},
		{"the members answer", "Delete", func(r *Plan) { r.Answers = true }, going + save + keep + again},
		{"the survivor", "Delete", func(r *Plan) { r.Saved, r.Survivor = true, "main-1" }, going + save + keep + again},
		{"kept", "Retain", func(r *Plan) { r.Saved, r.Survivor = true, "main-1" }, ""},
	} {
		cluster := operatetest.NewCluster(t)
		claim := cluster.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1"))
		operatetest.Field(claim, "metadata")["deletionTimestamp"] = "2026-11-20T12:00:00Z"
		operatetest.Field(claim, "spec")["volumeName"] = "pv-1"
		cluster.Put("/api/v1/persistentvolumes/pv-1", apitest.Object{
			"apiVersion": "v1", "kind": "PersistentVolume", "metadata": apitest.Object{"name": "pv-1"},
			"spec": apitest.Object{"persistentVolumeReclaimPolicy": row.policy},
		})
		r := foundIn(t, cluster, 3)
		r.Flags.Kubectl = "-n team"
		row.change(&r)
		_, _, err := Steps(r)
		if (err != nil) != (row.want != "") || err != nil && !strings.HasSuffix(err.Error(), ": "+row.want) {
			t.Errorf("%s: got %v, want %s", row.name, err, row.want)
		}
		if lost := r.lostClaims(); err == nil && !slices.Equal(lost, []string{"data-main-1"}) {
			t.Errorf("%s: new claims instead of %q", row.name, lost)
		}
	}
}

// TestClaimsChangedSince has what an unfinished restore does about claims that other clients have deleted since, before
// each of its steps. Those that it deletes itself are no obstacle.
func TestClaimsChangedSince(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	for _, row := range []struct {
		id      string
		gone    []string
		leaving []LeavingClaim
		ending  []string
		resume  string // a part of the refusal, empty for none
		undo    string
	}{
		{id: stopped},
		{id: stopped, gone: []string{"data-main-1"}, resume: "PersistentVolumeClaim data-main-1 is gone since", undo: "members would start on new volumes, without data"},
		{id: renamed, gone: []string{"data-main-1"}, resume: "Create each again", undo: "kubectl etcd -n team status statefulset/main shows the command"},
		{id: stopped, leaving: []LeavingClaim{{"data-main-1", "pv-1"}}, resume: "kubectl patch pv pv-1"},
		{id: started, leaving: []LeavingClaim{{"data-main-1", "pv-1"}}, resume: "kubectl patch pv pv-1", undo: "kubectl patch pv pv-1"},
		{id: stopped, gone: []string{"data-main-1"}, ending: []string{"data-main-1"}, undo: "members would start on new volumes, without data"},
		{id: letIn, gone: []string{"data-main-1"}, leaving: []LeavingClaim{{"data-main-2", "pv-2"}}, undo: "clients have been let in"},
	} {
		u := changed(r, func(r *Plan) { r.Leaving, r.Ending = row.leaving, row.ending })
		all := u.steps()
		rec := &progress.Record{Done: slices.IndexFunc(all, func(s step.Step) bool { return s.ID == row.id })}
		u.changedClaims(rec, row.gone)
		if err := u.MayContinue(rec); (err != nil) != (row.resume != "") || err != nil && !strings.Contains(err.Error(), row.resume) {
			t.Errorf("before %q, gone %q: %v, want %q", row.id, row.gone, err, row.resume)
		}
		if _, err := u.Undo(rec); (err != nil) != (row.undo != "") || err != nil && !strings.Contains(err.Error(), row.undo) {
			t.Errorf("before %q, gone %q, the undoing: %v, want %q", row.id, row.gone, err, row.undo)
		}
	}
}
