// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestRestoreJournalOfATenant: every user who may write ConfigMaps may have written the journal of a restore. The
// command that undoes it changes neither the StatefulSet nor a pod, and the one that continues it is refused.
func TestRestoreJournalOfATenant(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	undo := verb{path: "snapshot restore", args: "statefulset/main --abort"}
	for _, numbers := range []string{
		`"size":3,"replicas":1,"deletesClaims":true,"oneByOne":true,"done":7`,
		`"size":1,"replicas":0,"done":9`,
		`"size":-1,"done":9`,
		`"size":3,"replicas":-1,"done":-1`,
		`"size":2000000000,"done":9`,
	} {
		for _, abort := range []bool{false, true} {
			v := restore
			if abort {
				v = undo
			}
			w := newWorld(t, restore)
			w.Etcd.Database = etcdtest.Database(t, etcdserverpb.AlarmType_NONE)
			if err := os.WriteFile(filepath.Join(filepath.Dir(w.config), "SNAPSHOT"), w.Etcd.Database, 0o600); err != nil {
				t.Fatal(err)
			}
			w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z",%s}`, sha256.Sum256(w.Etcd.Database), numbers))
			code := w.run(t.Context(), v, "-y")
			if !abort && code == 0 {
				t.Errorf("%s: it is continued:\n%s", numbers, w.err.String())
			}
			if replicas := operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"]; fmt.Sprint(replicas) != "3" {
				t.Errorf("%s, abort %t: %v replicas", numbers, abort, replicas)
			}
			for _, write := range w.Writes() {
				if strings.Contains(write, "statefulsets") || strings.Contains(write, "/pods") || strings.Contains(write, "persistentvolumeclaims") {
					t.Errorf("%s, abort %t: %s", numbers, abort, write)
				}
			}
		}
	}
}
