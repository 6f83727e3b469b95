// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"testing"
)

// TestAborts: an error in a process of its own may end it before etcd. If another program follows, etcd is not shown.
func TestAborts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		before string
		shown  bool
	}{
		{":", true},
		{"shift", false},
		{"while tool; do shift; done", false},
		{"command shift", true},
		{". /missing", false},
		{": ${Y:?}", false},
		{": ${Y:-}", true},
		{"X=${Y?}", false},
		{"export X=${Y:?}", false},
		{"for x in ${Y:?}; do :; done", false},
		{"case ${Y:?} in a) ;; esac", false},
		{"echo $((1/0))", false},
		{"sleep $((1))", true},
		{": </missing", false},
		{": </dev/null", true},
		{"cat </missing", true},
		{"exec </missing", false},
		{"exec 2>&1", true},
		{"set -o nosuch", false},
		{"set -o pipefail", false},
		{"set -o xtrace -f", true},
		{"set -Z", false},
		{"set -- a", true},
		{"readonly A=1; A=2", false},
		{"unset A", true},
		{"set -e; tool", false},
		{"set -e; echo a", true},
		{"set -u; echo $Y", false},
		{"set -u; Y=1; echo $Y ${Z:-}", true},
	} {
		for _, process := range []string{"(%s\netcd --name a) &", "{ %s\netcd --name a; } &", "f() { %s\netcd --name a; }\nf &"} {
			text := fmt.Sprintf(process, row.before)
			if shown := surely(text + "\nserver & wait"); shown != row.shown {
				t.Errorf("shown %v beside another program, want %v: %s", shown, row.shown, text)
			}
			if !surely(text + "\nwait") {
				t.Errorf("not shown although nothing else runs: %s", text)
			}
		}
	}
}
