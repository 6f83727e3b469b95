// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const most = 7

// TestScaleKeepsQuorum tries every write in every state of up to seven voters: each set of ready
// members, each number of replicas and of volumes. A write that the rule lets pass takes no quorum
// that the cluster has, or could have. What takes none is not refused.
func TestScaleKeepsQuorum(t *testing.T) {
	t.Parallel()
	writes := 0
	for voters := range most + 1 {
		for now := range most + 1 {
			for asked := range most + 1 {
				for ready := range 1 << min(now, voters) {
					for held := range voters + 1 {
						for _, volumes := range []Volumes{Kept, Deleted, NoClaims} {
							// The volumes matter only where all members stop or start.
							if now > 0 && asked > 0 && (held < voters || volumes != Kept) {
								continue
							}
							check(t, voters, now, asked, ready, held, volumes)
							writes++
						}
					}
				}
			}
		}
	}
	if writes < 10_000 {
		t.Errorf("only %d writes were tried", writes)
	}
}

// check compares the rule with a naive count over the single voters. ready is a set of bits.
func check(t *testing.T, voters, now, asked, ready, held int, volumes Volumes) {
	t.Helper()
	f := Facts{Target: "statefulset/main", Namespace: "team", Now: now, Asked: asked, Voters: voters, Held: held, Volumes: volumes}
	before, after, replica, data := 0, 0, 0, 0
	for i := range voters {
		up := i < now && ready&(1<<i) != 0
		if up {
			before++
		}
		if up && i < asked {
			after++
		}
		if i < asked {
			replica++
		}
		if i < held {
			data++
		}
	}
	f.Ready, f.Staying = before, after
	majority := func(n int) bool { return 2*n > voters }
	costs := false
	switch {
	case voters == 0 || asked == now:
	case asked == 0:
		costs = volumes == Deleted
	case now == 0:
		costs = majority(data) && !majority(replica)
	case asked < now:
		// The voters that lose their replica don't come back.
		costs = !majority(replica) || majority(before) && !majority(after)
	}
	v := Evaluate(f)
	if v.Allowed == costs {
		t.Fatalf("%+v: allowed %t, and it costs the quorum: %t", f, v.Allowed, costs)
	}
	if v.Allowed && asked > 0 && asked < min(voters, now) && len(v.Notes) == 0 {
		t.Fatalf("%+v: voters lose their replica without a warning", f)
	}
	if (v.Reason == policy.Reason{}) || v.Message == "" {
		t.Fatalf("%+v: no reason: %+v", f, v)
	}
	// No write starts all StatefulSets of a cluster that spans several.
	f.Sets = "a, b and c"
	if v := Evaluate(f); v.Allowed == (costs && now > 0) {
		t.Fatalf("%+v: allowed %t, and it costs the quorum: %t", f, v.Allowed, costs)
	}
	f.Sets = ""
	f.Manager, f.How = "an operator", "ask it"
	if v := Evaluate(f); !v.Allowed && asked > 0 {
		t.Fatalf("%+v: an operator's step is refused", f)
	}
}
