// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// TestRestoreReplaced: what a restore of an earlier StatefulSet would do is not printed, because it can't be continued or
// undone.
func TestRestoreReplaced(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	abort := verb{path: "snapshot restore", args: "statefulset/main --abort"}
	for _, v := range []verb{restore, abort} {
		for _, flags := range []string{"-y", "--dry-run=client", "--dry-run=server"} {
			w := newWorld(t, restore)
			w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"replicas":3,"done":2}`, sha256.Sum256(w.Etcd.Database)))
			w.renamed()
			before := w.state()
			code := w.run(t.Context(), v, flags)
			if text := w.err.String(); code != 2 || !strings.HasPrefix(text, "refused: StatefulSet team/main was created again since the snapshot restore began") || w.state() != before {
				t.Errorf("%s %s: exit code %d:\n%s", v.args, flags, code, text)
			}
			w.err.Reset()
			w.Deny = func(verb, resource string) bool { return verb == "get" && resource == "statefulsets" }
			if code := w.run(t.Context(), v, "-y"); code != 1 || !strings.Contains(w.err.String(), `user "ann" lacks`) {
				t.Errorf("%s without permissions: exit code %d:\n%s", v.args, code, &w.err)
			}
		}
	}
}
