// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"testing"
)

// TestScriptsInScripts holds the depth to which scripts in a script are read, and that what is deeper is not
// taken for one that changes no members.
func TestScriptsInScripts(t *testing.T) {
	t.Parallel()
	deep := func(depth int) string {
		script := "A0='etcdctl member remove a; :'\n"
		for i := range depth {
			script += fmt.Sprintf("A%d='eval \"$A%d\"'\n", i+1, i)
		}
		return script + fmt.Sprintf("eval \"$A%d\"", depth)
	}
	for _, row := range []struct {
		id, script, verb string
		unread           bool
	}{
		{id: "SS-1 within the depth", script: deep(maxMountedDepth - 1), verb: "remove"},
		{id: "SS-2 deeper", script: deep(maxMountedDepth), unread: true},
		{id: "SS-3 the arguments of eval are one script", script: "eval 'etcdctl member' 'remove a'", verb: "remove"},
	} {
		found := changesOf(row.script)
		if len(found) == 0 || row.verb != "" && found[0].Verb != row.verb || row.unread != (found[0].Unread != "") {
			t.Errorf("%s: %+v, want %q, unread %t", row.id, found, row.verb, row.unread)
		}
	}
}
