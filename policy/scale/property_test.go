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
						for _, volumes := range []Volumes{Retained, Deleted, NoClaims} {
							// Which volumes exist matters only where all members start, and whether there are any where
							// members stop or start.
							if now > 0 && asked > 0 && (held < voters || volumes == NoClaims) {
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

func countVoters(voters int, that func(int) bool) (n int) {
	for i := range voters {
		if that(i) {
			n++
		}
	}
	return n
}

// costsQuorum is the naive answer. replica counts the voters that have a replica afterwards, and
// data those that have data.
func costsQuorum(f Facts, replica, data int) bool {
	majority := func(n int) bool { return 2*n > f.Voters }
	apart := 2*(f.Asked-f.Voters) > f.Asked // the new members are a quorum without the voters
	switch {
	case f.Voters == 0 || f.Asked == f.Now:
		return false
	case f.Asked == 0:
		return f.Volumes == Deleted
	case f.Now == 0:
		return majority(data) && !majority(replica) || apart && data > 0 && f.Volumes != NoClaims
	case f.Asked < f.Now:
		// The voters that lose their replica don't come back. Those that lose their data can't.
		return !majority(replica) || majority(f.Ready) && !majority(f.Staying) || f.Volumes == Deleted && replica < f.Voters
	}
	return apart && !majority(f.Ready)
}

// check compares the rule with a naive count over the single voters. ready is a set of bits.
func check(t *testing.T, voters, now, asked, ready, held int, volumes Volumes) {
	t.Helper()
	f := Facts{Target: "statefulset/main", Namespace: "team", Now: now, Asked: asked, Voters: voters, Keeping: min(asked, voters), Held: held, Volumes: volumes}
	up := func(i int) bool { return i < now && ready&(1<<i) != 0 }
	f.Ready = countVoters(voters, up)
	f.Staying = countVoters(voters, func(i int) bool { return up(i) && i < asked })
	costs := costsQuorum(f, min(asked, voters), min(held, voters))
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
	checkKinds(t, f, costs)
}

// checkKinds judges the same write of other kinds of clusters.
func checkKinds(t *testing.T, f Facts, costs bool) {
	t.Helper()
	now, asked, voters := f.Now, f.Asked, f.Voters
	// No write starts all StatefulSets of a cluster that spans several.
	f.Sets = "a, b and c"
	if v := Evaluate(f); v.Allowed == (costs && asked < now) {
		t.Fatalf("%+v: allowed %t, and it costs the quorum: %t", f, v.Allowed, costs)
	}
	f.Sets = ""
	// Without a record, no voter loses its replica, and none of a quorum with data stays without one.
	f.Unrecorded = true
	left := asked > 0 && asked < min(voters, now) || now == 0 && asked > 0 && asked < voters && 2*f.Held > voters
	if v := Evaluate(f); v.Allowed == (costs || left) {
		t.Fatalf("%+v: allowed %t, and voters lose their replica", f, v.Allowed)
	}
	checkManaged(t, f)
}

// checkManaged judges the same write of a cluster whose members an operator or a script removes.
func checkManaged(t *testing.T, f Facts) {
	t.Helper()
	now, asked, voters := f.Now, f.Asked, f.Voters
	f.Manager, f.How = "an operator", "ask it"
	if v := Evaluate(f); !v.Allowed && asked > 0 {
		t.Fatalf("%+v: an operator's step is refused", f)
	}
	// A script is not certain to remove a member before its data is deleted.
	f.Script = true
	deletes := f.Volumes == Deleted && asked > 0 && asked < min(voters, now)
	if v := Evaluate(f); asked > 0 && v.Allowed == deletes {
		t.Fatalf("%+v: a script's step: allowed %t, and voters' data is deleted: %t", f, v.Allowed, deletes)
	}
}

// TestMoveKeepsQuorum tries every write that changes the first ordinal, of up to seven voters and
// with each set of ready members: it passes exactly if a quorum of the voters has an ordinal of the
// new replicas, and a quorum that is ready stays so.
func TestMoveKeepsQuorum(t *testing.T) {
	t.Parallel()
	refused := 0
	for voters := range most + 1 {
		for asked := 1; asked <= most+1; asked++ {
			for first := -most; first <= most; first++ {
				for ready := range 1 << voters {
					in := func(i int) bool { return i >= first && i < first+asked }
					up := func(i int) bool { return ready&(1<<i) != 0 }
					f := Facts{Target: "statefulset/main", Namespace: "team", Now: max(1, voters), Asked: asked, Voters: voters, Held: voters, Moved: true}
					f.Keeping, f.Ready = countVoters(voters, in), countVoters(voters, up)
					f.Staying = countVoters(voters, func(i int) bool { return in(i) && up(i) })
					costs := voters > 0 && (2*f.Keeping <= voters || 2*f.Ready > voters && 2*f.Staying <= voters)
					v := Evaluate(f)
					if v.Allowed == costs {
						t.Fatalf("first %d, %+v: allowed %t, and it costs the quorum: %t", first, f, v.Allowed, costs)
					}
					if costs {
						refused++
					}
				}
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d writes were refused", refused)
	}
}
