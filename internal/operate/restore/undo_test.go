// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestUndo: what is undone depends on the steps that have begun. Old data only gets its name again
// while no member runs, and new data is only removed beside old data.
func TestUndo(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.Clients = true
	all := r.steps()
	at := func(id string) int { return slices.IndexFunc(all, func(s step.Step) bool { return s.ID == id }) }
	for _, row := range []struct {
		done int
		want string
	}{
		{0, "Let clients in"},
		{at(tried), "Delete the helper pod, Let clients in"},
		{at(stopped) - 1, "Delete the helper pod, Let clients in"},
		{at(stopped), "Start the members on their old data, Let clients in"},
		{at(helpersRun), "Delete the helper pods, Start the members on their old data, Let clients in"},
		{at(renamed), "Stop all members, Start a helper pod for each member, Give the old data its name again, Delete the helper pods, Start the members on their old data, Let clients in"},
		{at(started), "Stop all members, Start a helper pod for each member, Give the old data its name again, Delete the helper pods, Start the members on their old data, Let clients in"},
		{at(letIn), ""},
	} {
		steps, err := r.Undo(&progress.Record{Done: row.done})
		if (err != nil) != (row.want == "") {
			t.Errorf("%d steps done: %v", row.done, err)
		}
		// The command that undoes it has no snapshot, so that without --abort it would be refused.
		if err != nil && (strings.Contains(err.Error(), "same command") || !strings.Contains(err.Error(), "kubectl etcd -n team status statefulset/main shows")) {
			t.Errorf("%d steps done: the way is not possible: %v", row.done, err)
		}
		if got := strings.Join(titles(steps), ", "); got != row.want {
			t.Errorf("%d steps done: %s, want %s", row.done, got, row.want)
		}
	}
}

// TestUndoKeepsRecord: an undoing keeps the record of old data once that may have another name: another client may have
// started members since, and stopped them again. Its report has the path, and how to remove what is there.
func TestUndoKeepsRecord(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	all := r.steps()
	for _, id := range []string{renamed, copied, started} {
		rec := &progress.Record{Done: slices.IndexFunc(all, func(s step.Step) bool { return s.ID == id })}
		steps, err := r.Undo(rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if text := fmt.Sprint(s.Commands(r.Flags)); strings.Contains(text, "kubectl-etcd.dev/kept-data") {
				t.Errorf("%s: the record is removed:\n%s", id, text)
			}
		}
		if text := r.Undone(rec); !strings.Contains(text, "/data/etcd/member.undone-19700101T000000") {
			t.Errorf("%s: the report names no path: %s", id, text)
		}
	}
}

// TestUndoneStarter: an undoing that was interrupted after it has stopped the members still reports the client that had
// started them.
func TestUndoneStarter(t *testing.T) {
	t.Parallel()
	first := plainRestore()
	rec := NewRecord(first)
	rec.Done = slices.IndexFunc(first.steps(), func(s step.Step) bool { return s.ID == renamed })
	first.findReturned(rec, markedSet(3))
	rec.Undo, rec.Starter = true, first.Starter
	for _, replicas := range []int32{0, 3} { // the undoing has started them at its end
		r := plainRestore()
		r.findReturned(rec, markedSet(replicas))
		if got := r.Undone(rec); first.Starter == "" || !strings.Contains(got, first.Starter) {
			t.Errorf("%d replicas: %s", replicas, got)
		}
	}
}

// TestUndoNewVolumes: once members have new volumes, the old ones don't start beside them. The old data of
// the others got another name before that, and each stop keeps the claims.
func TestUndoNewVolumes(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.DeletesClaims, r.Gone, r.Lost = true, []string{"data-main-1"}, []string{"main-2"}
	all := r.steps()
	aside := false
	for done, s := range all {
		if s.ID == stopped {
			if text := fmt.Sprint(s.Commands(r.Flags)); !strings.Contains(text, `"whenScaled":"Retain"`) {
				t.Errorf("a stop deletes claims: %s", text)
			}
		}
		aside = aside || s.ID == renamed
		begun := (&progress.Record{Done: done}).Begun(all)
		news := slices.Contains(begun, replaced) || slices.Contains(begun, claimed)
		if news && !aside {
			t.Errorf("%s: the old data of main-0 has its name while members run on new volumes", s.Title)
		}
		if _, err := r.Undo(recordOf(r, done)); (err != nil) != news {
			t.Errorf("%s: %v", s.Title, err)
		}
	}
	if names := podsOf(r.intact()); !slices.Equal(names, []string{"main-0"}) {
		t.Errorf("intact are %q", names)
	}
}

// TestStoredStopped: no step before the stop puts anything into the store that a sidecar takes for a snapshot: a member
// that starts would be restored from it, and one that is the only one would delete its data. The same holds after an
// undoing.
func TestStoredStopped(t *testing.T) {
	t.Parallel()
	node := changed(druidRestore(), func(r *Plan) { r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\n", "/bucket/v2" })
	for name, r := range map[string]Plan{"bucket": druidRestore(), "node": node, "no hash": changed(node, func(r *Plan) { r.Bump, r.Snapshot.Hashed = 0, false }), "as it is": changed(node, func(r *Plan) { r.Bump = 0 })} {
		all := r.steps()
		stop, remove := firstStop(all), slices.IndexFunc(all, func(s step.Step) bool { return s.ID == removed })
		for done, s := range all {
			text := strings.Join(s.Commands(r.Flags), "\n")
			if named := strings.Contains(text, r.storedName()); named != (s.ID == stored) || named && (done <= stop || done >= remove || !slices.Contains(s.Uses, stopped) || !strings.Contains(text, "wait --for=delete")) {
				t.Errorf("%s, %q: the snapshot gets its name in the store: %t\n%s", name, s.Title, named, text)
			}
			steps, err := r.Undo(recordOf(r, done))
			if err != nil {
				continue
			}
			text = ""
			for _, s := range steps {
				text += strings.Join(s.Commands(r.Flags), "\n") + "\n"
			}
			free, start := strings.Index(text, r.storedName()), strings.Index(text, "scale ")
			if begun := (&progress.Record{Done: done}).Begun(all); (free >= 0) != (slices.Contains(begun, stored) || slices.Contains(begun, uploaded)) || start >= 0 && free > start {
				t.Errorf("%s, %q is next: the undoing leaves it in the store, or starts members before:\n%s", name, s.Title, text)
			}
		}
	}
}

// TestUndoDruid: the old volumes of druid come back until their claims are deleted.
func TestUndoDruid(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	all := r.steps()
	for done, s := range all {
		steps, err := r.Undo(recordOf(r, done))
		begun := (&progress.Record{Done: done}).Begun(all)
		if removed := slices.Contains(begun, removed); (err != nil) != removed {
			t.Errorf("%s is next: %v", s.Title, err)
			continue
		}
		text := fmt.Sprint(titles(steps))
		if err == nil && strings.Contains(text, "Resume") != slices.Contains(begun, suspended) {
			t.Errorf("%s is next: %s", s.Title, text)
		}
	}
}

// TestFinalSteps: the steps after which nothing is undone are those at which Undo refuses, so that --abort is printed
// as long as it is accepted.
func TestFinalSteps(t *testing.T) {
	t.Parallel()
	lost := plainRestore()
	lost.DeletesClaims, lost.Gone, lost.Lost = true, []string{"data-main-1"}, []string{"main-2"}
	open := plainRestore()
	open.Clients = true
	for name, r := range map[string]Plan{"plain": plainRestore(), "lost volumes": lost, "clients": open, "druid": druidRestore()} {
		final := false
		for done, s := range r.steps() {
			final = final || s.Final
			if _, err := r.Undo(recordOf(r, done)); (err != nil) != final {
				t.Errorf("%s, before %q: final %t, and the undoing: %v", name, s.Title, final, err)
			}
		}
	}
}

// TestNameOnNode: the copy gets its name, an interrupted command may have done that, and if it has neither name, the error
// is about the copy.
func TestNameOnNode(t *testing.T) {
	t.Parallel()
	for had, want := range map[string]string{"restore.part": "", "Full-00000000-1000000000-0": "", "other": copyGone + "\n"} {
		dir := t.TempDir()
		r := changed(druidRestore(), func(r *Plan) { r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\n", dir })
		if err := os.WriteFile(filepath.Join(dir, had), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, act := range r.nameOnNode() {
			run, is := act.(step.Exec)
			if !is {
				continue
			}
			out, err := exec.CommandContext(t.Context(), run.Args[0], run.Args[1:]...).CombinedOutput()
			if string(out) != want || (err != nil) != (want != "") {
				t.Errorf("%s: %q, %v", had, out, err)
			}
		}
		if _, err := os.Stat(r.inStore()); (err != nil) != (want != "") {
			t.Errorf("%s: %v", had, err)
		}
	}
}

// TestStoredAlone: no member runs directly before the snapshot gets its name in the store, and if one does after an upload,
// the snapshot is removed again.
func TestStoredAlone(t *testing.T) {
	t.Parallel()
	put := func(r Plan) (commands []string, named int) {
		_, s := r.intoStore()
		commands = s.Commands(r.Flags)
		return commands, slices.IndexFunc(commands, func(c string) bool { return strings.Contains(c, r.storedName()) })
	}
	const none = "wait --for=delete --timeout=1m pod/main-0 pod/main-1 pod/main-2"
	node, named := put(changed(druidRestore(), func(r *Plan) { r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\n", "/bucket/v2" }))
	if named < 1 || !strings.HasSuffix(node[named-1], none) {
		t.Errorf("a member may run when the snapshot gets its name:\n%s", strings.Join(node, "\n"))
	}
	bucket, named := put(druidRestore())
	if last := bucket[len(bucket)-1]; named != len(bucket)-2 || !strings.Contains(last, none+" || { aws s3 rm s3://bucket/main/v2/Full-") {
		t.Errorf("a member may run when the snapshot is there:\n%s", strings.Join(bucket, "\n"))
	}
}
