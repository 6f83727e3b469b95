// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func BenchmarkBudget(b *testing.B) {
	for _, members := range []string{"vvv", "vvx", "vvvvvvv"} {
		b.Run(members, func(b *testing.B) {
			f := Facts{Cluster: policytest.ClusterOf(members), Current: len(members), Now: start}
			for b.Loop() {
				Evaluate(f, settings)
			}
		})
	}
}
