// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// remember keeps the walk's own record of backups and staleness.
func (w *walk) remember() {
	now, c := w.facts.Now, w.facts.Cluster
	switch {
	case c.BackupReady.Status != policy.True:
		w.trueSince = time.Time{}
	case w.trueSince.IsZero():
		w.trueSince = now
	}
	if c.BackupReady.Status == policy.False && w.holdSince.IsZero() {
		w.holdSince = now
	}
	if !w.trueSince.IsZero() && now.Sub(w.trueSince) >= quick.Settle {
		w.holdSince = time.Time{}
	}
	switch {
	case !c.Stale:
		w.staleSince = time.Time{}
	case w.staleSince.IsZero():
		w.staleSince = now
	}
}

func (w *walk) judge(v Result) {
	now, c, before := w.facts.Now, w.facts.Cluster, w.facts.Current
	healthy, n, learners := c.NonMemberPods, c.Size, 0
	for _, m := range c.Members {
		healthy += policytest.ToInt(m.PodReady)
		n -= policytest.ToInt(m.Learner)
		learners += policytest.ToInt(m.Learner && m.PodReady)
	}
	if v.MinAvailable < policy.Quorum(n) {
		w.t.Errorf("minAvailable %d is below quorum: %s", v.MinAvailable, v.Message)
	}
	w.judgeLimits(v)
	afterHold := min(policy.Quorum(c.Size)+learners, c.Size) + c.NonMemberPods
	looser := before >= 0 && v.Target < before && v.Target < healthy
	ending := v.Reason == policy.BackupFailing && now.Sub(w.holdSince) >= quick.BackupHoldLimit-quick.Settle && afterHold < v.Target
	switch {
	case !looser && !ending:
		w.dueSince = time.Time{}
	case w.dueSince.IsZero():
		w.dueSince = now
	}
	if looser {
		w.judgeWait(v)
	} else if v.MinAvailable != v.Target {
		w.t.Errorf("minAvailable %d is not yet the %d that frees no ready pod: %s", v.MinAvailable, v.Target, v.Message)
	}
}

// judgeWait holds a value that frees a ready pod to its time: late enough, not
// too late, and not twice within it.
func (w *walk) judgeWait(v Result) {
	now, before := w.facts.Now, w.facts.Current
	waited := now.Sub(w.dueSince)
	switch {
	case waited < quick.Settle && v.MinAvailable != before:
		w.t.Errorf("from %d to %d after only %s: %s", before, v.MinAvailable, waited, v.Message)
	case waited >= quick.Settle && v.MinAvailable != v.Target:
		w.t.Errorf("still %d after %s: %s", v.MinAvailable, waited, v.Message)
	case waited >= quick.Settle:
		if !w.freed.IsZero() && now.Sub(w.freed) < quick.Settle {
			w.t.Errorf("frees ready pods a second time after %s: %s", now.Sub(w.freed), v.Message)
		}
		w.freed, w.dueSince = now, time.Time{}
		w.loosened++
	}
}

// judgeLimits holds the two holds against their limits.
func (w *walk) judgeLimits(v Result) {
	now, c := w.facts.Now, w.facts.Cluster
	held := !w.holdSince.IsZero() && now.Sub(w.holdSince) < quick.BackupHoldLimit
	switch {
	case v.Reason == policy.BackupFailing && !held,
		v.Reason == BackupFailingTooLong && held,
		v.Reason == policy.AllReady && c.BackupReady.Status == policy.False:
		w.t.Errorf("%s although backups first failed %s ago", v.Reason, now.Sub(w.holdSince))
	case (v.Reason == policy.FactsStale) != (c.Stale && !c.TrafficCut && now.Sub(w.staleSince) < quick.StaleLimit):
		w.t.Errorf("%s although facts are stale %t for %s", v.Reason, c.Stale, now.Sub(w.staleSince))
	}
	w.held += policytest.ToInt(v.Reason == policy.BackupFailing)
	w.stale += policytest.ToInt(v.Reason == policy.FactsStale)
}

// judgeRepeat decides again on the verdict itself, a moment later by no clock:
// nothing may be left to write.
func (w *walk) judgeRepeat(v Result) {
	f := w.facts
	f.Current, f.State = v.MinAvailable, v.State
	if diff := cmp.Diff(v, Evaluate(f, quick)); diff != "" {
		w.t.Errorf("deciding again changes the verdict (-first +again):\n%s", diff)
	}
}

// judgeRecheck decides again just before, and at, the time that the verdict
// asks for: nothing changes before it, something does then, and where it asks
// for none nothing ever does.
func (w *walk) judgeRecheck(v Result) {
	f := w.facts
	f.Current, f.State = v.MinAvailable, v.State
	same := func(after time.Duration) bool {
		f.Now = w.facts.Now.Add(after)
		again := Evaluate(f, quick)
		again.Recheck = v.Recheck
		return cmp.Equal(v, again)
	}
	switch {
	case v.Recheck == 0 && !same(1000*time.Hour):
		w.t.Errorf("asks for no recheck, but time changes it: %s", v.Message)
	case v.Recheck > 0 && !same(v.Recheck-1):
		w.t.Errorf("changes before the recheck in %s: %s", v.Recheck, v.Message)
	case v.Recheck > 0 && same(v.Recheck):
		w.t.Errorf("nothing changes at the recheck in %s: %s", v.Recheck, v.Message)
	}
}
