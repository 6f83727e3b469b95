// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

// TestRestoreSilent: a restore into a cluster whose members run and don't answer is refused after several tries, unless
// the user allows it. Then a warning shows what is not saved.
func TestRestoreSilent(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL", set: func(w *world) {
		for pod := range strings.FieldsSeq("main-0 main-1 main-2") {
			w.Etcd.Stop(pod)
		}
	}}
	plan := restore
	plan.path, plan.args = "snapshot restore-plan", "SNAPSHOT statefulset/main"
	for _, row := range []struct {
		verb
		flags, text string
		code        int
	}{
		{restore, "--dry-run=client", "refused: cannot restore StatefulSet team/main: main-0, main-1 and main-2 run, and no member that could provide its data answers", 2},
		{restore, "-y", "add --allow-unsaved: only the old volumes have the present data then", 2},
		{restore, "--dry-run=client --allow-unsaved", "Warning: the present data is not saved, because main-0, main-1 and main-2 run and do not answer", 0},
		{plan, "", "add --allow-unsaved", 2},
		{plan, "--allow-unsaved", "", 0},
	} {
		t.Run(row.path+" "+row.flags, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, restore)
			before := w.state()
			if code := w.run(t.Context(), row.verb, strings.Fields(row.flags)...); code != row.code || w.state() != before {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
			if text := w.err.String(); !strings.Contains(text, row.text) || !strings.Contains(text, "They are asked again, for 30s") {
				t.Errorf("no %q in\n%s", row.text, text)
			}
		})
	}
}
