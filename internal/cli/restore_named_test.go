// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestRestoreNamed: another change is refused with the command that continues the restore, as it is typed.
func TestRestoreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, verb{args: "ETCDUTL"})
	file := filepath.Join(filepath.Dir(w.config), "SNAPSHOT")
	w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","file":%q,"at":"2026-01-01T00:00:00Z","size":3,"replicas":3,"done":99}`, sha256.Sum256(w.Etcd.Database), file))
	if code := w.run(t.Context(), verb{path: "defrag", args: "statefulset/main"}, "-y"); code != 2 || !strings.Contains(withoutGiven(w.err.String()), "continue it with kubectl etcd snapshot restore "+file+" statefulset/main -n team, or end it") {
		t.Fatalf("exit code %d:\n%s", code, &w.err)
	}
	if code := w.run(t.Context(), verb{path: "snapshot restore", args: file + " statefulset/main --tool ETCDUTL"}, "-y"); code != 0 {
		t.Errorf("exit code %d:\n%s", code, &w.err)
	}
}
