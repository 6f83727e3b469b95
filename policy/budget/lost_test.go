// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestVotersWithoutPods checks that voters whose pods are gone are reported with the numbers,
// and only when the scale that took them is over.
func TestVotersWithoutPods(t *testing.T) {
	t.Parallel()
	f := Facts{Cluster: policytest.ClusterOf("vvv--"), Current: 3, Now: start}
	f.Cluster.Lost = 2
	v := Evaluate(f, settings)
	if v.MinAvailable != 3 || policytest.ReasonsOf(v.Notes) != VotersWithoutPods.Name() || !strings.Contains(v.Notes[0].Message, "5 voters, of which 3 have pods") {
		t.Errorf("minAvailable %d, notes %v", v.MinAvailable, v.Notes)
	}
	for _, way := range []string{
		"If etcd has 5 voters, scale back to 5,",
		`If it has 3, because an operator, a script or a user removed the others, run: kubectl annotate --overwrite etcd/main -n shoot kubectl-etcd.dev/size="3 at $(date -u +%FT%TZ)"`,
	} {
		if !strings.Contains(v.Notes[0].Message, way) {
			t.Errorf("%s lacks %s", v.Notes[0].Message, way)
		}
	}
	f.Cluster.Target = "main"
	if got := Evaluate(f, settings).Notes[0].Message; !strings.Contains(got, `set the annotation kubectl-etcd.dev/size of its owner to "3 at TIME"`) {
		t.Error(got)
	}
	f.Cluster.Operation = "scale from 5 to 3 members"
	if v := Evaluate(f, settings); v.MinAvailable != 3 || len(v.Notes) > 0 {
		t.Errorf("minAvailable %d, notes %v while it is scaled", v.MinAvailable, v.Notes)
	}
}

// TestRaised holds that the message of a budget shows the way back after more replicas than etcd got voters.
func TestRaised(t *testing.T) {
	t.Parallel()
	f := Facts{Cluster: policytest.ClusterOf("vxx")}
	f.Cluster.Target = "statefulset/main"
	if v := Evaluate(f, settings); v.Reason != QuorumAtRisk || !strings.HasSuffix(v.Message, "run: "+f.Cluster.DeclareReplicas("N")) {
		t.Errorf("%s: %s", v.Reason, v.Message)
	}
}
