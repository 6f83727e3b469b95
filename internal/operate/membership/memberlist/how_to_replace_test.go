// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestHowToReplace: a member that nothing manages is replaced by the plugin.
func TestHowToReplace(t *testing.T) {
	t.Parallel()
	r := Removal{Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}}
	if got, want := r.howToReplace("main-0"), "kubectl etcd member replace statefulset/main main-0 -n team"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
