// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestPlanResumeValues: the plan has what the journal writes into the template, which more users may write than the
// template.
func TestPlanResumeValues(t *testing.T) {
	t.Parallel()
	const value = "--initial-cluster=x=http://x:2380; canary"
	for _, row := range []struct {
		of   membership.Operation
		undo bool
		want string
	}{
		{membership.Replace, false, "at its end, it restores " + value},
		{membership.Replace, true, "undoing restores " + value},
		{membership.ScaleOut, true, "undoing restores " + value},
		{membership.ScaleIn, true, ""},
	} {
		c := operatetest.NewCluster(t)
		c.Remove(operatetest.Path("StatefulSet", "main")) // so that nothing else is in the plan
		m := &Members{Kube: c.Client(t), Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}}
		j := &Change{Record: membership.Record{Operation: row.of, Replicas: 3, Target: 5, Ordinal: 1}, Found: found{Args: arguments{Cluster: []string{strings.TrimPrefix(value, "--initial-cluster=")}}}}
		p, err := m.PlanResume(t.Context(), j, row.undo)
		if err != nil {
			t.Fatal(err)
		}
		facts := strings.Join(p.Facts, "; ")
		if row.want != "" && !strings.Contains(facts, row.want) || row.want == "" && strings.Contains(facts, "canary") {
			t.Errorf("%s, undo %t: %s, want %s", row.of, row.undo, facts, row.want)
		}
	}
}
