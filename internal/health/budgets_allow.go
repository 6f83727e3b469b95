// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func budgetAllows(f *Facts) []Finding {
	if found, any := f.selecting(); !any {
		return found
	}
	if found, more := f.mayHaveMore(); more {
		return found
	}
	if f.Pods.Err != nil {
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	well, c := f.readyPods(), f.counted()
	switch {
	case c.pods == 0 || well < c.pods:
		return notApplicable("%d of %d pods are Ready: no member may be evicted now", well, c.pods)
	case f.Survey.Err == nil && !f.allHealthy() && c.gone() == 0:
		return notApplicable("%d of %s answer and follow one leader: no member may be evicted now", len(f.voters().following), policy.Count(f.voters().total, "voter"))
	}
	var found []Finding
	for i := range f.Selecting.Value {
		if finding, has := f.blocks(&f.Selecting.Value[i], c); has {
			found = append(found, finding)
		}
	}
	if len(found) == 0 && c.gone() > 0 {
		return notApplicable("etcd %s %s, and %s Ready: no member may be evicted now", f.has(), policy.Count(c.voters, "voter"), policy.Plural(well, "pod is", "pods are"))
	}
	return found
}

// blocks returns the finding about a budget that allows no eviction, false for none.
func (f *Facts) blocks(b *policyv1.PodDisruptionBudget, c counted) (Finding, bool) {
	if b.Status.DisruptionsAllowed > 0 || b.Status.ObservedGeneration < b.Generation {
		return Finding{}, false
	}
	if finding, held := f.heldBudget(b); held || c.gone() > 0 {
		return finding, held
	}
	value, spec, known := valueOf(b, c.pods)
	want := 0
	if !c.single() {
		want = c.least()
	}
	if !known || value.Min(c.pods) < c.pods || want >= c.pods {
		return Finding{}, false // B004's, passing, or Q003's
	}
	return warning(f.lowerBudget(b, value.WithMin(want, c.pods), c.voters), "budget %s (%s) allows no eviction although %s healthy: every drain waits", b.Name, spec, allMembers(c.pods)), true
}

// has is the verb of a sentence about the voters that etcd has.
func (f *Facts) has() string {
	if f.listKnown() || f.LastVoters > 0 {
		return "has"
	}
	return "may have"
}

// lowerBudget returns how a budget gets a value that is right for so many voters at most. If it is not known how many
// etcd has, that is a condition.
func (f *Facts) lowerBudget(b *policyv1.PodDisruptionBudget, to annotation.BudgetValue, voters int) string {
	set := f.setBudget(b, to)
	if f.listKnown() || set == f.reconcile() {
		return set
	}
	return fmt.Sprintf("once etcd has no more than %s and all are healthy (%s), %s", policy.Count(voters, "voter"), f.Command("status"), set)
}

// allMembers returns the subject of a sentence about all of so many members.
func allMembers(n int) string {
	if n == 1 {
		return "its member is"
	}
	return fmt.Sprintf("all %d members are", n)
}

// readyPods counts the members' pods that are Ready.
func (f *Facts) readyPods() int {
	n := 0
	for _, pod := range f.Pods.Value {
		if podstate.Ready(pod) {
			n++
		}
	}
	return n
}
