// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package budget is the rule about disruption budgets: which minAvailable keeps a cluster's quorum.
// Its table is docs/rules/budget.md.
package budget

import (
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Settings are what an EtcdTopologyPolicy says of disruption.
type Settings struct {
	// BackupHoldLimit is how long a failed backup may hold minAvailable at the cluster's size.
	BackupHoldLimit time.Duration
	// StaleLimit is how long stale facts may hold it there.
	StaleLimit time.Duration
	// Settle is how long a looser value must have been due before it frees a ready pod.
	Settle time.Duration
}

// State is what a budget remembers between two decisions. It is kept in
// the budget's annotations. Zero times mean "not running".
type State struct {
	// LooserSince is when a value below the current one first became due, or
	// began to be waited for because a hold is about to end.
	LooserSince time.Time
	// HoldSince is when backups were first seen failing; it survives
	// until BackupReady has been True for Settle.
	HoldSince time.Time
	// BackupTrueSince is since when BackupReady is True again after a hold.
	BackupTrueSince time.Time
	// BackupUnknownSince is since when BackupReady is Unknown.
	BackupUnknownSince time.Time
	// StaleSince is since when the facts are stale.
	StaleSince time.Time
}

// Facts is what the budget rule decides on.
type Facts struct {
	Cluster policy.Cluster
	// Current is the minAvailable in force, -1 when there is none. For a budget
	// with maxUnavailable it is the replicas less that number.
	Current int
	// Floor is what the budget's author asks for at least, 0 for nothing: no less is due.
	Floor int
	// Hold keeps what stands: the value may only become higher. It is set for a budget
	// that no policy keeps any more and that was not released yet.
	Hold  bool
	State State
	// Now is the decision's time: policy has no clock.
	Now time.Time
}

// Result is the minAvailable that a cluster's budget should have now. It
// is meant for a budget that selects the cluster's pods with an integer and
// evicts unready pods only IfHealthyBudget, which is the default.
type Result struct {
	// MinAvailable to write now.
	MinAvailable int
	// Target is what the table asks for; it differs from MinAvailable while a
	// looser value waits for Settle.
	Target int
	// Reason names the table's row.
	Reason policy.Reason
	// Message has the numbers, for people.
	Message string
	// State to remember.
	State State
	// Recheck is when to decide again although no fact has changed, zero for
	// never: one of this rule's own times runs out then. That facts grow old
	// (a lease, a condition) is for whoever observes them to notice.
	Recheck time.Duration
	// Notes are what a person should hear: a limit that passed, an even size.
	Notes []policy.Note
}

// BackupUnknownGrace is how long an Unknown BackupReady keeps the last decision.
// druid passes through Unknown around each full snapshot, so a short one means
// nothing.
const BackupUnknownGrace = 5 * time.Minute

// Evaluate decides on minAvailable. The table in docs/rules/budget.md has a row
// for each reason. For a cluster of two or more it is never below the quorum of
// those that may vote, whatever the facts. Nonsense (negative sizes, times to come) is read as the
// nearest sense.
func Evaluate(f Facts, s Settings) Result {
	t := count(f.Cluster)
	if t.n <= 1 {
		return f.single(t)
	}
	c := runClocks(f, s)
	r := findRow(f, s, t, c)
	asked := r.target
	r.target, r.after = max(r.target, f.Floor), max(r.after, f.Floor)
	v := Result{
		Target: r.target,
		Reason: r.reason,
		Notes:  notesOf(f, s, t, c, r),
	}
	v.MinAvailable = c.settle(f, s, t, r)
	v.Message = t.message(f.Cluster, r.reason, asked)
	if r.target > asked {
		v.Message += fmt.Sprintf("; its author asks for minAvailable %d", f.Floor)
	}
	switch {
	case v.MinAvailable == r.target:
	case f.Hold:
		v.Message += fmt.Sprintf(", held at minAvailable %d", v.MinAvailable)
	default:
		v.Message += fmt.Sprintf(", after minAvailable %d until %s", v.MinAvailable, clockTime(c.state.LooserSince.Add(s.Settle)))
	}
	v.State = c.state
	v.Recheck = c.next(f.Now)
	return v
}

// single is the result for one member or none: what the author asks for, or nothing.
func (f Facts) single(t counts) Result {
	v := Result{Target: f.Floor, MinAvailable: f.Floor, Reason: SingleMember, Message: t.message(f.Cluster, SingleMember, 0)}
	if f.Floor > 0 {
		v.Message += fmt.Sprintf("; its author asks for minAvailable %d", f.Floor)
	}
	if f.Hold {
		v.MinAvailable = max(f.Floor, f.Current)
	}
	return v
}

// AdoptMaxUnavailable is the maxUnavailable by which a budget that has that
// field asks for target of replicas pods.
func AdoptMaxUnavailable(replicas, target int) int {
	return max(0, replicas-max(0, target))
}
