// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
)

// TestNext: a command with --abort is not advised to add it.
func TestNext(t *testing.T) {
	t.Parallel()
	for undoing, want := range map[bool]string{
		false: "run the same command again to continue, or add --abort to undo it (journal: ",
		true:  "run the same command again to continue (journal: ",
	} {
		j := Journaled[*restart.Record]{Abort: "undo it", Undoing: undoing, cluster: &app.Cluster{}}
		if got := j.Next(nil); !strings.HasPrefix(got, want) {
			t.Errorf("undoing %t: %q, want %q", undoing, got, want)
		}
	}
}
