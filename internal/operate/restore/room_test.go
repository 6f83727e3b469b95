// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestWarnOfRoom: a volume in which the new data does not fit beside the old data is found before the members stop, with
// the command that grows it.
func TestWarnOfRoom(t *testing.T) {
	t.Parallel()
	const patch = `kubectl -n team patch pvc/data-main-1 --type merge -p '{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}'`
	for _, row := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"nothing is known", func(r *Plan) { r.Capacity = nil }, ""},
		{"enough", func(r *Plan) { r.Capacity["data-main-1"] = 3 << 30 }, ""},
		{"too little", func(*Plan) {}, "data-main-1 has less than the 2.1 GiB that the old and the new data need"},
		{"too little, and a command", func(*Plan) {}, patch},
		{"too little for the snapshot alone", func(r *Plan) { r.Database, r.Snapshot.Size = 0, 2<<30 }, "data-main-1 has less"},
		{"its volume is lost", func(r *Plan) { r.Lost = []string{"main-1"} }, ""},
		{"the log is elsewhere", func(r *Plan) {
			r.Files.WALDir, r.Files.Claims = "/wal/log", []string{"data-__POD__", "wal-__POD__"}
		}, "the 2.0 GiB that"},
	} {
		r := plainRestore()
		r.Database, r.Snapshot.Size = 1<<30, 1<<30
		r.Capacity = map[string]int64{"data-main-0": 8 << 30, "data-main-1": 1 << 30, "data-main-2": 8 << 30}
		row.change(&r)
		text := ""
		for _, w := range r.warnings() {
			if strings.Contains(w, "less than") {
				text = w
			}
		}
		if (text != "") != (row.want != "") || !strings.Contains(text, row.want) {
			t.Errorf("%s: %q, want %q", row.name, text, row.want)
		}
	}
	if r := foundIn(t, operatetest.NewCluster(t), 3); len(r.Capacity) != 3 || len(r.Files.Claims) == 0 {
		t.Errorf("found the capacities %v of %v", r.Capacity, r.Files.Claims)
	}
}

// TestRoomBeforeRename: all volumes are checked before the first old data gets another name.
func TestRoomBeforeRename(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Plan{"all": plainRestore(), "lost": changed(plainRestore(), func(r *Plan) { r.Lost = []string{"main-1"} })} {
		steps := r.steps()
		text := strings.Join(steps[slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == renamed })].Commands(r.Flags), "\n")
		checks, renames := strings.Index(text, "df -Pk"), strings.Index(text, "mv ")
		if checks < 0 || renames < checks || strings.Count(text[:renames], "done") < 1 {
			t.Errorf("%s: the first check is at %d, and the first renaming at %d:\n%s", name, checks, renames, text)
		}
	}
}
