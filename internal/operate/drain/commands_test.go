// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"strings"
	"testing"
)

// TestNext checks what an interrupted run has left, and that its command has the flags of the user.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, want     string
		left, cordoned []string
	}{
		{"nothing is done", "nothing was changed; run the same command again", []string{"a", "b"}, nil},
		{"one is left", "kubectl uncordon a b --context dev makes them schedulable again; to continue: kubectl etcd drain-plan b --force --context dev --run", []string{"b"}, []string{"a", "b"}},
		{"none is left", "kubectl uncordon a b --context dev makes them schedulable again", nil, []string{"a", "b"}},
	} {
		r := &Run{Job: &Job{Args: " --force", Flags: " --context dev"}, Left: row.left, Cordoned: row.cordoned}
		if got := r.Next(); !strings.HasSuffix(got, row.want) {
			t.Errorf("%s: %q", row.name, got)
		}
	}
}

// TestNodesOf checks that a node counts once, however often and in whatever form it is named.
func TestNodesOf(t *testing.T) {
	t.Parallel()
	warned := 0
	j := &Job{Warnf: func(string, ...any) { warned++ }}
	names, err := j.NodesOf(t.Context(), []string{"a", "node/b", "nodes/a"}, "")
	if got := strings.Join(names, " "); err != nil || got != "a b" || warned != 1 {
		t.Errorf("%q, %d warnings, %v", got, warned, err)
	}
}
