// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"
)

// TestHeldRollout: a rollout that is held after an undo is named, with the command that shows how to release it.
func TestHeldRollout(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		prepare func(*writing)
		want    string
	}{
		"held":     {heldAt3, "the rollout of StatefulSet main is held by etcd-webhook, which continues it."},
		"not held": {partitioned, ""},
	} {
		got := newWriting(t, row.prepare).m.HeldRollout(t.Context(), " --context a")
		if !strings.HasPrefix(got, row.want) || (row.want == "") != (got == "") {
			t.Errorf("%s: %q", name, got)
		}
		if command := ": kubectl etcd sweep -n team --context a"; got != "" && !strings.HasSuffix(got, command) {
			t.Errorf("%s: %q lacks the command %q", name, got, command)
		}
	}
}
