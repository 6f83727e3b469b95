// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// TestUsed: only the objects of an operation that holds its lock are named beside what is left over.
func TestUsed(t *testing.T) {
	t.Parallel()
	item := func(name string, reason policy.Reason) Item {
		return Item{Resource: "configmaps", Name: name, Result: rules.Result{Reason: reason}}
	}
	s := &State{Items: []Item{item("a", rules.OperationRuns), item("b", rules.ClusterExists), item("c", rules.OperationRuns)}}
	if got := s.Used(); !slices.Equal(got, []string{"configmap/a", "configmap/c"}) {
		t.Errorf("named are %q", got)
	}
	if got := (&State{}).Used(); len(got) > 0 {
		t.Errorf("named are %q", got)
	}
}
