// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// guard asks the eviction rule before each eviction. It sees pods as they are now, and leases
// and votes as they were.
type guard struct {
	lag   lag
	size  int // of the whole cluster
	stale bool
}

// sees returns the letter of what the guard sees of a member of a kind. late is true for the
// member of the lag.
func (g *guard) sees(kind int, late bool) string {
	letter := policytest.Kinds[kind : kind+1]
	switch {
	case g.stale:
		return unseen.Replace(letter)
	case !late:
		return letter
	}
	is := policytest.ClusterOf(letter).Members[0]
	was := policytest.ClusterOf(policytest.Kinds[g.lag.seen : g.lag.seen+1]).Members[0]
	seen := map[[2]bool]string{{true, true}: "v", {false, false}: "x", {true, false}: "p", {false, true}: "m"}[[2]bool{is.PodReady, was.Ready}]
	if was.Learner {
		seen = strings.ToUpper(seen)
	}
	return seen
}

// admits reports whether the rule admits the eviction of a pod of a kind: of the member of the
// lag, or of another one. Members that were evicted are missing.
func (g *guard) admits(left members, kind int) bool {
	letters, first, last := "", -1, -1
	for k, n := range left {
		for i := range n {
			if k == kind {
				last = len(letters)
				if first < 0 {
					first = last
				}
			}
			letters += g.sees(k, g.lag.what != "" && k == g.lag.truth && i == 0)
		}
	}
	c := policytest.ClusterOf(letters + strings.Repeat("-", g.size-len(letters)))
	c.Stale = g.stale
	admitted := func(at int) bool {
		return eviction.Evaluate(eviction.Facts{Cluster: c, Pod: c.Members[at].Pod}).Allowed
	}
	return admitted(first) || admitted(last)
}
