// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math"
	"strings"
	"testing"
	"time"
)

// FuzzBudget takes any facts, nonsense too: no panic, never below the quorum
// of those that may vote, and no second thoughts about its own verdict.
func FuzzBudget(f *testing.F) {
	f.Add("vvv", 3, 0, "True", "True", int64(0), 3, int64(0), int64(time.Minute), false)
	f.Add("vvx+", 3, 1, "False", "False", int64(time.Hour), 2, int64(-time.Hour), int64(0), false)
	f.Add("", math.MaxInt, math.MaxInt, "", "Unknown", int64(math.MinInt64), math.MaxInt, int64(math.MaxInt64), int64(math.MaxInt64), true)
	f.Add("XXVM", math.MinInt, math.MinInt, "true", "x", int64(-1), math.MinInt, int64(math.MinInt64), int64(math.MinInt64), true)
	f.Fuzz(func(t *testing.T, letters string, size, strangers int, all, backup string, age int64, current int, since, limit int64, stale bool) {
		c := cluster(onlyKinds(letters))
		c.Size, c.Strangers, c.Stale = size, strangers, stale
		c.AllMembersReady = Condition{Status: Status(all), Age: time.Duration(age)}
		c.BackupReady = Condition{Status: Status(backup), Age: time.Duration(age)}
		then := start.Add(time.Duration(since))
		facts := BudgetFacts{
			Cluster: c, Current: current, Now: start,
			State: BudgetState{LooserSince: then, HoldSince: then, BackupTrueSince: then, BackupUnknownSince: then, StaleSince: then},
		}
		s := BudgetSettings{BackupHoldLimit: time.Duration(limit), StaleLimit: time.Duration(limit), Settle: time.Duration(limit)}
		v := Budget(facts, s)
		n := max(size, len(c.Members))
		voters := min(n, most)
		for _, m := range c.Members {
			voters -= one(m.Learner)
		}
		if n > 1 && v.MinAvailable < Quorum(voters) || n <= 1 && v.MinAvailable != 0 {
			t.Errorf("minAvailable %d for size %d", v.MinAvailable, n)
		}
		if v.Reason == "" || v.Message == "" || v.Recheck < 0 || v.MinAvailable < v.Target {
			t.Errorf("verdict %+v", v)
		}
		facts.Current, facts.State = v.MinAvailable, v.State
		if again := Budget(facts, s); again.MinAvailable != v.MinAvailable || again.State != v.State {
			t.Errorf("decided again on %+v: %+v", v, again)
		}
	})
}

func onlyKinds(letters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(kinds+"+-", r) {
			return r
		}
		return -1
	}, letters)
}

// FuzzSpread takes any facts: no panic, each key at most once and none of the
// user's own, minDomains only where the term is required and the zones are
// there, and nothing required of what no node could meet.
func FuzzSpread(f *testing.F) {
	f.Add(3, 0, "aabbcc", "a b c", "Zone", "Required", "TopologySpread", ZoneKey, "", false)
	f.Add(5, 4, "aabbcc", "a1 a1 ? ! -", "Zone", "Required", "AntiAffinity", ZoneKey, HostnameKey, true)
	f.Add(math.MaxInt, math.MaxInt, "", "gone", "", "", "", "", "", true)
	f.Add(math.MinInt, math.MinInt, "a.", "- - -", "x", "y", "z", HostnameKey, ZoneKey, false)
	f.Add(9, 1, "abcdefgh", "a,b,c,d,e,f,g,h a,b,c,d,e,f,g,h - - - - - - -", "Auto", "Required", "", ZoneKey, "", true)
	f.Fuzz(func(t *testing.T, size, ordinal int, zones, claims, topology, enforcement, form, zoneKey, own string, ordered bool) {
		at := places(zones)
		facts := SpreadFacts{Size: size, Ordinal: ordinal, Places: at, Volumes: volumes(claims, at), Ordered: ordered, OwnKeys: []string{own}}
		v := Spread(facts, SpreadSettings{Topology: Topology(topology), Enforcement: Enforcement(enforcement), Form: Form(form), ZoneKey: zoneKey})
		if size <= 1 && len(v.Terms) > 0 || len(v.Terms) > 2 {
			t.Errorf("%d members get %s", size, inShort(v.Terms))
		}
		for _, term := range v.Terms {
			if term.TopologyKey == own || term.TopologyKey == "" {
				t.Errorf("term for %q beside the user's own for %q", term.TopologyKey, own)
			}
			checkTerm(t, term, size, len(at) > 0 && Enforcement(enforcement) != Preferred)
		}
		for _, n := range v.Notes {
			if n.Reason == "" || n.Message == "" {
				t.Errorf("empty note %+v", n)
			}
		}
	})
}

func checkTerm(t *testing.T, term Term, size int, required bool) {
	t.Helper()
	if term.MinDomains > 0 && (!term.Hard || term.Kind != TopologySpread || term.MinDomains != size) {
		t.Errorf("minDomains in %+v", term)
	}
	if term.Hard && !required {
		t.Errorf("required: %+v", term)
	}
}
