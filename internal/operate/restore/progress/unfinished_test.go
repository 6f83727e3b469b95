// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// TestCommands: the command that continues a restore names its snapshot, or it is explained which one it is.
// Every user who may write ConfigMaps may have written the journal.
func TestCommands(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}
	for payload, want := range map[string][2]string{
		`{"sha256":"ab12","file":"main.db"}`:                          {"main.db", ""},
		`{"sha256":"ab12","file":"my backups/it's.db"}`:               {`'my backups/it'\''s.db'`, ""},
		`{"sha256":"ab12","file":"s3://bucket/main.db"}`:              {"s3://bucket/main.db", ""},
		`{"sha256":"ab12","file":"s3://b/main.db","parameters":true}`: {"'s3://b/main.db?PARAMETERS'", "PARAMETERS are those of the URL that the restore began with"},
		`{"sha256":"ab12","file":"-"}`:                                {"-", "stdin is the snapshot with SHA-256 ab12"},
		`{"sha256":"ab12"}`:                                           {"FILE", "FILE is the snapshot with SHA-256 ab12"},
		`{"sha256":"ab12","file":"a\u001b[2Jb.db"}`:                   {"FILE", "FILE is the snapshot with SHA-256 ab12"},
		`{"sha256":"ab12","file":"--server=https://elsewhere"}`:       {"./--server=https://elsewhere", ""},
		`{"sha256":"ab12","file":"a.db; rm -rf /"}`:                   {"'a.db; rm -rf /'", ""},
		`{}`:           {"FILE", ""},
		`{"sha256":1}`: {"FILE", ""},
	} {
		j := &journal.Journal{Kind: journal.KindRestore, Payload: []byte(payload)}
		resume, abort := Commands(o, j)
		if resume != "kubectl etcd snapshot restore "+want[0]+" statefulset/main" || abort != "kubectl etcd snapshot restore statefulset/main --abort" {
			t.Errorf("%s: %q and %q, want the file %q", payload, resume, abort, want[0])
		}
		if got := SnapshotOf(j); got != want[1] {
			t.Errorf("%s: %q, want %q", payload, got, want[1])
		}
	}
}
