// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/sweep"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// TestUsed: only the objects of an operation that holds its lock are named beside what is left over.
func TestUsed(t *testing.T) {
	t.Parallel()
	item := func(name string, reason policy.Reason) sweep.Item {
		return sweep.Item{Resource: "configmaps", Name: name, Verdict: rules.Verdict{Reason: reason}}
	}
	s := &sweep.State{Items: []sweep.Item{item("a", rules.OperationRuns), item("b", rules.ClusterExists), item("c", rules.OperationRuns)}}
	if got := used(s); !slices.Equal(got, []string{"configmap/a", "configmap/c"}) {
		t.Errorf("named are %q", got)
	}
	if got := used(&sweep.State{}); len(got) > 0 {
		t.Errorf("named are %q", got)
	}
}
