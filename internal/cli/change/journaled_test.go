// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
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

// TestHaltedNext: what no command continues or undoes has its own way to end it.
func TestHaltedNext(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		halt func(format string, args ...any) error
		want string
	}{
		{operate.Halt, "stopped: a reason; then run the same command again to continue, or add --abort to undo it (journal: "},
		{operate.HaltForGood, "stopped: a reason"},
	} {
		j := Journaled[*restart.Record]{Abort: "undo it"}
		op := j.Operation(&app.Cluster{}, "restart", nil, func(context.Context, *Run) error { return row.halt("a %s", "reason") })
		err := op.unfinished(t.Context(), "restart", op.Act(t.Context(), nil))
		if !app.Is[*app.RefusedError](err) || !strings.HasPrefix(err.Error(), row.want) || len(row.want) < 20 && err.Error() != row.want {
			t.Errorf("%v, want %q", err, row.want)
		}
	}
}
