// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// ofProvider returns a restore into a cluster with a store of a provider.
func ofProvider(name string) Plan {
	return changed(druidRestore(), func(r *Plan) {
		r.Druid.Store = &backupstore.Store{Provider: name, Container: "bucket", Prefix: "main"}
	})
}

// TestUndoNotStored: an undoing starts the members although the snapshot is not in the store yet, or not any more, and the tool
// fails for an object that is not there.
func TestUndoNotStored(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		r := ofProvider(p.names[0])
		next := slices.IndexFunc(r.steps(), func(s step.Step) bool { return s.ID == stored })
		steps, err := r.Undo(recordOf(r, next))
		if err != nil || len(steps) == 0 || len(steps[0].Acts) != 1 {
			t.Fatalf("%s: %q, %v", p.names[0], titles(steps), err)
		}
		c := step.Clients{
			Run:    func(context.Context, []string, []string) error { return errors.New("404") },
			Output: func(context.Context, []string) (string, error) { return "main/v2/Full-00000000-00000001-1\n", nil },
		}
		if err := steps[0].Acts[0].Do(t.Context(), c); err != nil {
			t.Errorf("%s: %v", p.names[0], err)
		}
		c.Output = func(context.Context, []string) (string, error) { return "main/v2/" + r.storedName() + "\n", nil }
		if err := steps[0].Acts[0].Do(t.Context(), c); err == nil {
			t.Errorf("%s: members would be restored from the snapshot that is still there", p.names[0])
		}
	}
}

// TestProbeStore: before the members stop, the tool that puts the snapshot into the store and removes it has done both.
func TestProbeStore(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		all := ofProvider(p.names[0]).steps()
		try := slices.IndexFunc(all, func(s step.Step) bool { return s.ID == probed })
		stop := all[firstStop(all)]
		if try < 0 || try > firstStop(all) || !slices.Contains(stop.Uses, probed) {
			t.Errorf("%s: the store is tried in step %d, and the stop uses %q", p.names[0], try, stop.Uses)
			continue
		}
		text, tool := strings.Join(all[try].Commands(step.Flags{}), "\n"), p.remove("", "")[0]
		if strings.Count(text, tool+" ") != 2 || !strings.Contains(text, "main/v2/restore.probe") || strings.Contains(text, "Full-") {
			t.Errorf("%s: it is tried by\n%s", p.names[0], text)
		}
	}
	nodes := changed(druidRestore(), func(r *Plan) { r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\n", "/bucket/v2" })
	if slices.ContainsFunc(nodes.steps(), func(s step.Step) bool { return s.ID == probed }) {
		t.Error("a store of the nodes is reached by a pod")
	}
}

// TestCheckToolOfStore: an undoing that needs a tool of the store doesn't begin without it.
func TestCheckToolOfStore(t *testing.T) {
	t.Parallel()
	r := changed(druidRestore(), func(r *Plan) { r.File = "" })
	for want, act := range map[string]step.Action{
		"no-such-tool, which reaches the backup store": step.RemoveObject{Remove: []string{"no-such-tool", "rm"}},
		"only be done by a person: rm the object":      step.ByHand{Text: "rm the object"},
	} {
		if err := r.CheckTools(t.Context(), []step.Step{{Acts: []step.Action{act}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
