// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import "testing"

// TestArgumentsOfEval holds that the arguments of eval are read as one script.
func TestArgumentsOfEval(t *testing.T) {
	t.Parallel()
	found := changesOf("eval 'etcdctl member' 'remove a'")
	if len(found) != 1 || found[0].Verb != "remove" || found[0].Unread != "" {
		t.Errorf("%+v", found)
	}
}
