// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// FuzzBudget takes any facts, nonsense too: no panic, never below the quorum
// of those that may vote, and no second thoughts about its own verdict.
func FuzzBudget(f *testing.F) {
	f.Add("vvv", 3, 0, "True", "True", int64(0), 3, int64(0), int64(time.Minute), false)
	f.Add("vvx+", 3, 1, "False", "False", int64(time.Hour), 2, int64(-time.Hour), int64(0), false)
	f.Add("", math.MaxInt, math.MaxInt, "", "Unknown", int64(math.MinInt64), math.MaxInt, int64(math.MaxInt64), int64(math.MaxInt64), true)
	f.Add("XXVM", math.MinInt, math.MinInt, "true", "x", int64(-1), math.MinInt, int64(math.MinInt64), int64(math.MinInt64), true)
	f.Fuzz(func(t *testing.T, letters string, size, otherPods int, all, backup string, age int64, current int, since, limit int64, stale bool) {
		c := policytest.ClusterOf(onlyKinds(letters))
		c.Size, c.NonMemberPods, c.Stale = size, otherPods, stale
		c.AllMembersReady = policy.Condition{Status: policy.Status(all), Age: time.Duration(age)}
		c.BackupReady = policy.Condition{Status: policy.Status(backup), Age: time.Duration(age)}
		then := start.Add(time.Duration(since))
		facts := Facts{
			Cluster: c, Current: current, Now: start,
			State: State{LooserSince: then, HoldSince: then, BackupTrueSince: then, BackupUnknownSince: then, StaleSince: then},
		}
		s := Settings{BackupHoldLimit: time.Duration(limit), StaleLimit: time.Duration(limit), Settle: time.Duration(limit)}
		v := Evaluate(facts, s)
		n := max(size, len(c.Members))
		voters := min(n, most)
		for _, m := range c.Members {
			voters -= policytest.ToInt(m.Learner)
		}
		if n > 1 && v.MinAvailable < policy.Quorum(voters) || n <= 1 && v.MinAvailable != 0 {
			t.Errorf("minAvailable %d for size %d", v.MinAvailable, n)
		}
		if v.Reason == (policy.Reason{}) || v.Message == "" || v.Recheck < 0 || v.MinAvailable < v.Target {
			t.Errorf("verdict %+v", v)
		}
		facts.Current, facts.State = v.MinAvailable, v.State
		if again := Evaluate(facts, s); again.MinAvailable != v.MinAvailable || again.State != v.State {
			t.Errorf("decided again on %+v: %+v", v, again)
		}
	})
}

func onlyKinds(letters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(policytest.Kinds+"+-", r) {
			return r
		}
		return -1
	}, letters)
}
