// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
)

func BenchmarkBudget(b *testing.B) {
	for _, members := range []string{"vvv", "vvx", "vvvvvvv"} {
		b.Run(members, func(b *testing.B) {
			f := BudgetFacts{Cluster: ClusterOf(members), Current: len(members), Now: start}
			for b.Loop() {
				Budget(f, settings)
			}
		})
	}
}
