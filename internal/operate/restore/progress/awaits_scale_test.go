// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"net/http"
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestRunAwaitsScale: a restore that a scale follows ends with a journal that has the number of members, because no other
// object has it then. The scale itself is no step of the restore. An undoing leaves no journal.
func TestRunAwaitsScale(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		r := newRuns(t)
		r.steps = append(r.steps, r.scale)
		if err := r.run(t, undo); err != nil || slices.Contains(r.did, "scale") || r.journal() == undo {
			t.Fatalf("undo %t: %v, did %q, a journal is left: %t", undo, err, r.did, r.journal())
		}
		if undo {
			continue
		}
		kept, err := journal.Read(t.Context(), r.Client(t), owned)
		if err != nil || kept.ScaleTo != 3 || kept.Kind != journal.KindRestore {
			t.Fatalf("%+v, %v", kept, err)
		}
		if resume, abort := Commands(owned, kept); resume != "kubectl etcd scale statefulset/main --replicas 3" || abort != "kubectl etcd scale statefulset/main --abort" || SnapshotOf(kept) != "" {
			t.Errorf("%q, %q", resume, abort)
		}
	}
}

// TestRunKilledBeforeScale: if a restore is killed between its last step and the number, the same command writes the number.
func TestRunKilledBeforeScale(t *testing.T) {
	t.Parallel()
	config := operatetest.Path("ConfigMap", "kubectl-etcd-main")
	r := newRuns(t)
	r.steps = append(r.steps, r.scale)
	writes := 0
	r.Refuse = func(method, path string) int {
		if method == http.MethodPatch && path == config {
			if writes++; writes == len(Counted(r.steps))+1 {
				return http.StatusInternalServerError
			}
		}
		return 0
	}
	if err := r.run(t, false); err == nil {
		t.Fatal("the number was written")
	}
	if kept, err := journal.Read(t.Context(), r.Client(t), owned); err != nil || kept.ScaleTo != 0 {
		t.Fatalf("%+v, %v", kept, err)
	}
	r.Refuse, r.did = nil, nil
	if err := r.run(t, false); err != nil || len(r.did) > 0 {
		t.Errorf("%v, did %q", err, r.did)
	}
	if kept, err := journal.Read(t.Context(), r.Client(t), owned); err != nil || kept == nil || kept.ScaleTo != 3 {
		t.Errorf("%+v, %v", kept, err)
	}
}
