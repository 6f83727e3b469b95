// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import "github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"

// Standing is what a budget over all members keeps until another one replaces it. A change of hands
// loosens nothing: less may be due by then, but not for the settle time, or by facts that are not confirmed.
type Standing struct {
	// Members is how many pods of members it keeps.
	Members int
	// Record has its clocks, and why it keeps as many.
	Record annotation.BudgetRecord
}

func (b *Budgets) stands(j judged) {
	b.Standing = append(b.Standing, Standing{Members: j.Value.Min(j.Expected) - j.NonMembers, Record: j.Record})
}

// madeStricter reports whether a budget of another author has a number of ours that is higher than its author's.
func (j *judged) madeStricter() bool {
	r := j.Record
	return r.Original != nil && r.Value != nil && *r.Value == j.Value && j.Value.Min(j.Expected) > r.Original.Min(j.Expected)
}

// InForce returns the minAvailable that is in force for a budget over all members, and its record with the clocks and
// the reason of that. minAvailable, -1 for none, and record are those of that budget alone. nonMembers are the Ready
// pods that it selects and that are no members.
func (b *Budgets) InForce(minAvailable int, record annotation.BudgetRecord, nonMembers int) (int, annotation.BudgetRecord) {
	for _, s := range b.Standing {
		stands := s.Members + nonMembers
		if stands < minAvailable {
			continue
		}
		higher := stands > minAvailable
		minAvailable, record.State = stands, record.State.TakeOver(s.Record.State, higher)
		if higher {
			record.Reason = s.Record.Reason
		}
	}
	return minAvailable, record
}
