// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"
	"testing"
	"time"
)

// fields are the facts that are known or not, in the order of everyState.
func (f *Facts) fields() []*Known {
	if f.Kind == KeptData { // its own fact would make the other kinds three times as slow
		return []*Known{&f.Locked, &f.Cluster, &f.Well, &f.Unfinished, &f.Due}
	}
	return []*Known{
		&f.Locked, &f.Cluster, &f.Replaced, &f.InForce, &f.Installed, &f.Governed, &f.Well, &f.Wanted, &f.Runs, &f.Unfinished, &f.Listed,
	}
}

// everyState calls f with each combination of facts of each kind.
func everyState(f func(Facts)) {
	kinds := append(Kinds(), "Another")
	for _, kind := range kinds {
		for _, age := range []time.Duration{-time.Hour, Recent, Recent + 1} {
			facts := Facts{Kind: kind, Age: age}
			var fill func(int)
			fill = func(at int) {
				fields := facts.fields()
				if at == len(fields) {
					f(facts)
					return
				}
				for _, k := range []Known{Unknown, No, Yes} {
					*fields[at] = k
					fill(at + 1)
				}
			}
			fill(0)
		}
	}
}

// mayRemove is a second, naive reading of the page: what must be true of an object that is removed.
//
//nolint:gocyclo // one case a kind
func mayRemove(f Facts) bool {
	all := func(want Known, facts ...Known) bool {
		return !slices.ContainsFunc(facts, func(k Known) bool { return k != want })
	}
	known := func(facts ...Known) bool { return !slices.Contains(facts, Unknown) }
	if f.Locked != No {
		return false
	}
	switch f.Kind {
	case Journal:
		return known(f.Cluster, f.Replaced) && (f.Cluster == No || f.Replaced == Yes) && !f.Aside
	case Lock:
		return f.Cluster == No
	case Rollout:
		return f.Installed == No && known(f.Governed, f.Well, f.Cluster) && (f.Cluster == No || f.Well == Yes)
	case Budget:
		return f.Installed == No
	case MemberLease, VolumeClaim:
		return all(No, f.Wanted, f.Runs, f.Unfinished, f.Listed)
	case KeptData:
		return f.Due == Yes && f.Well == Yes && f.Unfinished == No
	case ClientTraffic, Suspension, HelperPod:
	}
	return false
}

// TestNeverInUse asks in every state: what is removed is what the page allows and nothing else. So
// nothing is removed of which a fact is not known, or whose cluster exists and has an operation under way.
func TestNeverInUse(t *testing.T) {
	t.Parallel()
	states, removed := 0, map[Kind]int{}
	everyState(func(f Facts) {
		states++
		v := Evaluate(f)
		removes := v.Action == Remove || v.Action == RemoveClaim
		if removes != mayRemove(f) {
			t.Fatalf("%+v: %s", f, v.Action)
		}
		if (v.Action == RemoveClaim) != (removes && f.Kind == VolumeClaim) {
			t.Fatalf("%+v: %s, which needs no --delete-claims", f, v.Action)
		}
		if f.Locked == Yes && v.Action != InUse {
			t.Fatalf("%+v: %s under a lock that is held", f, v.Action)
		}
		if v.Reason.Name() == "" || v.Message == "" {
			t.Fatalf("%+v: no reason or no message", f)
		}
		if removes {
			removed[f.Kind]++
		}
	})
	t.Logf("%d states, removed in %v", states, removed)
	for _, kind := range []Kind{Journal, Lock, Rollout, Budget, MemberLease, VolumeClaim, KeptData} {
		if removed[kind] == 0 {
			t.Errorf("%s is never removed", kind)
		}
	}
}

// TestUnknownDecidesNothing: with a fact of its kind unknown, an object is in use or not known, and
// learning the fact never makes it less safe to have waited.
func TestUnknownDecidesNothing(t *testing.T) {
	t.Parallel()
	everyState(func(f Facts) {
		if f.unknown() == "" {
			return
		}
		if v := Evaluate(f); v.Action != NotKnown && v.Action != InUse {
			t.Fatalf("%+v: %s", f, v.Action)
		}
	})
}
