// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// DescribeTerms says what terms do to members, to follow "members go to".
func DescribeTerms(terms []spread.Term) string {
	if len(terms) == 0 {
		return "any node"
	}
	parts := make([]string, 0, len(terms))
	for _, t := range terms {
		firmness := " (preferred)"
		if t.Hard {
			firmness = " (required)"
		}
		parts = append(parts, DescribeTerm(t)+firmness)
	}
	return strings.Join(parts, " and ")
}

// DescribeTerm says what a term does, whether required or preferred.
func DescribeTerm(t spread.Term) string {
	what := "zones"
	switch t.TopologyKey {
	case spread.HostnameKey:
		what = "nodes"
	case spread.ZoneKey:
	default:
		what = "zones by " + t.TopologyKey
	}
	if t.Kind == spread.TopologySpread && t.MinDomains == 0 {
		return "evenly filled " + what
	}
	return "different " + what
}
