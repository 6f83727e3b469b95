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

// Settings are the settings of an EtcdTopologyPolicy for disruption.
type Settings struct {
	// BackupHoldLimit is how long a failed backup may hold minAvailable at the cluster's size.
	BackupHoldLimit time.Duration
	// StaleLimit is how long stale facts may hold it there.
	StaleLimit time.Duration
	// Settle is how long a looser value must have been due before it frees a ready pod.
	Settle time.Duration
}

// State is what the rule remembers between two decisions. It is stored in the budget's
// annotations. A zero time means that its clock is not running.
type State struct {
	// LooserSince is when a value below the current one became due, or when the wait for
	// it began because a hold is about to end.
	LooserSince time.Time
	// HoldSince is when backups were first seen failing. It is kept until BackupReady has
	// been True for Settle.
	HoldSince time.Time
	// BackupTrueSince is when BackupReady became True again after a hold.
	BackupTrueSince time.Time
	// BackupUnknownSince is when BackupReady became Unknown.
	BackupUnknownSince time.Time
	// StaleSince is when the facts became stale.
	StaleSince time.Time
}

// Facts is the input of the budget rule.
type Facts struct {
	Cluster policy.Cluster
	// Current is the minAvailable in force, -1 if there is none. For a budget with
	// maxUnavailable, it is the number of replicas minus that number.
	Current int
	// Floor is what the budget's author asks for at least, 0 for nothing: no less is due.
	Floor int
	// Hold keeps what stands: the value may only become higher. It is set for a budget
	// that no policy keeps any more and that was not released yet.
	Hold  bool
	State State
	// Unconfirmed is true while the health of a member is not known for sure: its lease was read for the first time,
	// or its answer is awaited. Such facts make the budget stricter only, and start no clock.
	Unconfirmed bool
	// Now is the decision's time: policy has no clock.
	Now time.Time
}

// Result is the minAvailable that a cluster's budget should have now. The budget must select
// the cluster's pods, have an integer, and have unhealthyPodEvictionPolicy IfHealthyBudget,
// which is the default.
type Result struct {
	// MinAvailable to write now.
	MinAvailable int
	// Target is the value of the table's row. It differs from MinAvailable while a looser
	// value waits for Settle.
	Target int
	// Reason is the reason of the table's row.
	Reason policy.Reason
	// Message is for users and has the numbers.
	Message string
	// State is what to remember until the next decision.
	State State
	// Recheck is when to decide again even if no fact has changed, because one of this rule's
	// times ends then. Zero means never. It doesn't cover facts that grow old (a lease, a
	// condition): the observer of the facts must notice that.
	Recheck time.Duration
	// Notes are what users should know, such as a limit that has passed.
	Notes []policy.Note
}

// BackupUnknownGrace is how long the last decision remains while BackupReady is Unknown.
// etcd-druid sets Unknown for a short time around each full snapshot.
const BackupUnknownGrace = 5 * time.Minute

// Evaluate returns the minAvailable for a cluster's budget. The table in docs/rules/budget.md has
// a row for each reason. For a cluster of two or more members, the value is never below the
// quorum of the members that may vote, whatever the facts. An invalid fact, such as a negative
// size or a future time, counts as the nearest valid one.
func Evaluate(f Facts, s Settings) Result {
	unconfirmed, state := f.Unconfirmed, f.State
	f.Hold = f.Hold || unconfirmed
	v := evaluate(f, s)
	if unconfirmed && v.Target < f.Current {
		v.State = state
	}
	return v
}

func evaluate(f Facts, s Settings) Result {
	t := count(f.Cluster, s.Settle)
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

// single returns the result for one member or none: what the author asks for, or nothing. A member that may
// have others beside it stays, and what stands is not loosened. Nor is it while a larger cluster has no members.
func (f Facts) single(t counts) Result {
	if f.Cluster.SizeUnknown != "" && t.n > 0 {
		target := max(t.everyPod(), f.Floor)
		return Result{
			Target: target, MinAvailable: max(target, f.Current), Reason: policy.SizeUnknown,
			Message: t.message(f.Cluster, policy.SizeUnknown, target),
		}
	}
	if was := f.Cluster.Hibernated; t.n == 0 && was > 1 {
		target := max(policy.Quorum(min(was, most)), f.Floor, f.Current)
		return Result{Target: target, MinAvailable: target, Reason: ScaledToZero, Message: t.message(f.Cluster, ScaledToZero, target)}
	}
	v := Result{Target: f.Floor, MinAvailable: f.Floor, Reason: SingleMember, Message: t.message(f.Cluster, SingleMember, 0)}
	if f.Floor > 0 {
		v.Message += fmt.Sprintf("; its author asks for minAvailable %d", f.Floor)
	}
	if f.Hold {
		v.MinAvailable = max(f.Floor, f.Current)
	}
	return v
}

// AdoptMaxUnavailable returns the maxUnavailable that keeps target of so many replicas. It is never
// below 0: a target above the replicas keeps all of them.
func AdoptMaxUnavailable(replicas, target int) int {
	return max(0, replicas-max(0, target))
}
