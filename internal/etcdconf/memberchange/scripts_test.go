// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange_test

import (
	"strings"
	"testing"
)

// TestArgumentsOfEval holds that the arguments of eval are read as one script.
func TestArgumentsOfEval(t *testing.T) {
	t.Parallel()
	found := changesOf("eval 'etcdctl member' 'remove a'")
	if len(found) != 1 || found[0].Verb != "remove" || found[0].Unread != "" {
		t.Errorf("%+v", found)
	}
}

// TestNestedScriptsAreBounded holds that scripts in a script which are left out are not taken for
// ones that change no members.
func TestNestedScriptsAreBounded(t *testing.T) {
	t.Parallel()
	constant := strings.Repeat("echo a b\n", 400)
	many := "A='" + constant + "'\n" + strings.Repeat("eval \"$A\"\n", 100)
	inspected := changesOf(many + "eval etcdctl member remove a")
	if len(inspected) == 0 {
		t.Errorf("a script beyond the bounds: %v, want that it isn't read, or a removal", inspected)
	}
	if found := changesOf(`eval etcdctl member remove a`); len(found) != 1 || found[0].Verb != "remove" {
		t.Errorf("the arguments of eval: %v, want a removal", found)
	}
	trapped := "A='" + constant + "'\n" + strings.Repeat("trap \"$A\" EXIT\n", 100) + "trap 'etcdctl member remove a' EXIT"
	if found := changesOf(trapped); len(found) != 1 || found[0].Unread == "" {
		t.Errorf("traps beyond the bounds: %v, want that they are not read", found)
	}
}
