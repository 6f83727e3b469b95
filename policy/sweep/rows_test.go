// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	hour = time.Hour
	old  = 25 * time.Hour
)

// rows are the rows of docs/rules/sweep.md.
var rows = []struct {
	row    string
	facts  Facts
	action Action
	reason policy.Reason
}{
	{"SW-1 a journal whose StatefulSet is gone", Facts{Kind: Journal, Locked: Yes, Cluster: No, Replaced: No, Age: old}, InUse, OperationRuns},
	{"SW-1 a lock that is held", Facts{Kind: Lock, Locked: Yes, Cluster: No}, InUse, OperationRuns},
	{"SW-1 a claim, and nothing else is known", Facts{Kind: VolumeClaim, Locked: Yes}, InUse, OperationRuns},
	{"SW-2 a journal of today", Facts{Kind: Journal, Locked: No, Cluster: Yes, Replaced: No, Age: hour}, InUse, JournalRecent},
	{"SW-2 a clock is ahead", Facts{Kind: Journal, Locked: No, Cluster: Yes, Replaced: No, Age: -hour}, InUse, JournalRecent},
	{"SW-3 a cut", Facts{Kind: ClientTraffic, Locked: No, Cluster: Yes, InForce: Yes}, InUse, CutInForce},
	{"SW-3 a cut of which the cluster is not known", Facts{Kind: ClientTraffic, InForce: Yes}, InUse, CutInForce},
	{"SW-3 a suspension", Facts{Kind: Suspension, Locked: No, InForce: Yes}, InUse, CutInForce},
	{"SW-4 a lock", Facts{Kind: Lock, Locked: No, Cluster: Yes}, InUse, ClusterExists},
	{"SW-5 a budget", Facts{Kind: Budget, Locked: No, Installed: Yes}, InUse, WebhookKeeps},
	{"SW-5 a rollout", Facts{Kind: Rollout, Locked: No, Installed: Yes, Cluster: Yes, Governed: Yes, Well: No}, InUse, WebhookKeeps},
	{"SW-6 a lease of a wanted member", Facts{Kind: MemberLease, Locked: No, Wanted: Yes, Runs: No, Unfinished: No, Listed: No}, InUse, MemberWanted},
	{"SW-6 a lease with a pod", Facts{Kind: MemberLease, Locked: No, Wanted: No, Runs: Yes, Unfinished: No, Listed: No}, InUse, MemberWanted},
	{"SW-6 a claim with a pod", Facts{Kind: VolumeClaim, Locked: No, Wanted: No, Runs: Yes, Unfinished: No}, InUse, MemberWanted},
	{"SW-7 a claim during a scale", Facts{Kind: VolumeClaim, Locked: No, Wanted: No, Runs: No, Unfinished: Yes, Listed: No}, InUse, OperationUnfinished},
	{"SW-7 an old helper during a restore", Facts{Kind: HelperPod, Locked: No, Unfinished: Yes, Age: old}, InUse, OperationUnfinished},
	{"SW-8 a helper of today", Facts{Kind: HelperPod, Locked: No, Unfinished: No, Age: hour}, InUse, HelperRecent},
	{"SW-9 a journal without permission for StatefulSets", Facts{Kind: Journal, Locked: No, Age: old}, NotKnown, LeftoverUnknown},
	{"SW-9 a lock without permission for StatefulSets", Facts{Kind: Lock, Locked: No}, NotKnown, LeftoverUnknown},
	{"SW-9 a budget without permission for Deployments", Facts{Kind: Budget, Locked: No}, NotKnown, LeftoverUnknown},
	{"SW-9 a claim of a cluster that does not answer", Facts{Kind: VolumeClaim, Locked: No, Wanted: No, Runs: No, Unfinished: No}, NotKnown, LeftoverUnknown},
	{"SW-9 a kind of another version", Facts{Kind: "Another", Locked: No, Cluster: No, Replaced: Yes}, NotKnown, LeftoverUnknown},
	{"SW-9 the zero facts", Facts{}, NotKnown, LeftoverUnknown},
	{"SW-10 gone", Facts{Kind: Journal, Locked: No, Cluster: No, Replaced: No, Age: hour}, Remove, JournalOrphaned},
	{"SW-10 created again", Facts{Kind: Journal, Locked: No, Cluster: Yes, Replaced: Yes, Age: hour}, Remove, JournalOrphaned},
	{"SW-27 gone", Facts{Kind: Journal, Locked: No, Cluster: No, Replaced: No, Aside: true, Age: old}, ByHand, JournalOfOldData},
	{"SW-27 created again", Facts{Kind: Journal, Locked: No, Cluster: Yes, Replaced: Yes, Aside: true, Age: hour}, ByHand, JournalOfOldData},
	{"SW-11 it has old data, and can go on", Facts{Kind: Journal, Locked: No, Cluster: Yes, Replaced: No, Aside: true, Age: old}, ByHand, JournalUnfinished},
	{"SW-11 unfinished", Facts{Kind: Journal, Locked: No, Cluster: Yes, Replaced: No, Age: old}, ByHand, JournalUnfinished},
	{"SW-9 a cut without permission for journals", Facts{Kind: ClientTraffic, Locked: No, Cluster: Yes, InForce: No}, NotKnown, LeftoverUnknown},
	{"SW-23 a cut of a restore", Facts{Kind: ClientTraffic, Locked: No, Cluster: Yes, InForce: No, Unfinished: Yes}, ByHand, CutUnfinished},
	{"SW-23 a suspension by a restore", Facts{Kind: Suspension, Locked: No, InForce: No, Unfinished: Yes}, ByHand, CutUnfinished},
	{"SW-12 over", Facts{Kind: ClientTraffic, Locked: No, Cluster: Yes, InForce: No, Unfinished: No}, ByHand, CutLeft},
	{"SW-12 of no cluster", Facts{Kind: ClientTraffic, Locked: No, Cluster: No, InForce: No, Unfinished: No}, ByHand, CutLeft},
	{"SW-13 not cut", Facts{Kind: Suspension, Locked: No, InForce: No, Unfinished: No}, ByHand, SuspensionLeft},
	{"SW-14 gone", Facts{Kind: Lock, Locked: No, Cluster: No}, Remove, LockOrphaned},
	{"SW-15 no policy", Facts{Kind: Rollout, Locked: No, Installed: Yes, Cluster: Yes, Governed: No, Well: Yes}, ByHand, RolloutUngoverned},
	{"SW-16 a member is down", Facts{Kind: Rollout, Locked: No, Installed: No, Cluster: Yes, Governed: Yes, Well: No}, ByHand, RolloutUnwell},
	{"SW-17 all are ready", Facts{Kind: Rollout, Locked: No, Installed: No, Cluster: Yes, Governed: No, Well: Yes}, Remove, RolloutLeft},
	{"SW-17 no etcd any more", Facts{Kind: Rollout, Locked: No, Installed: No, Cluster: No, Governed: No, Well: Yes}, Remove, RolloutLeft},
	{"SW-18 not installed", Facts{Kind: Budget, Locked: No, Installed: No}, Remove, BudgetLeft},
	{"SW-19 a lease", Facts{Kind: MemberLease, Locked: No, Wanted: No, Runs: No, Unfinished: No, Listed: Yes}, ByHand, StillMember},
	{"SW-19 a claim", Facts{Kind: VolumeClaim, Locked: No, Wanted: No, Runs: No, Unfinished: No, Listed: Yes}, ByHand, StillMember},
	{"SW-20 removed from etcd", Facts{Kind: MemberLease, Locked: No, Wanted: No, Runs: No, Unfinished: No, Listed: No}, Remove, LeaseLeft},
	{"SW-21 removed from etcd", Facts{Kind: VolumeClaim, Locked: No, Wanted: No, Runs: No, Unfinished: No, Listed: No}, RemoveClaim, ClaimLeft},
	{"SW-7 old data during a restore", Facts{Kind: KeptData, Locked: No, Unfinished: Yes, Due: Yes, Well: Yes}, InUse, OperationUnfinished},
	{"SW-9 old data of a cluster that does not answer", Facts{Kind: KeptData, Locked: No, Unfinished: No, Due: Yes}, NotKnown, LeftoverUnknown},
	{"SW-24 no deadline, and nothing is known of the members", Facts{Kind: KeptData, Locked: No, Unfinished: No, Due: No}, ByHand, OldDataKept},
	{"SW-25 a member is down", Facts{Kind: KeptData, Locked: No, Unfinished: No, Due: Yes, Well: No}, ByHand, KeptDataNeeded},
	{"SW-26 all is well", Facts{Kind: KeptData, Locked: No, Unfinished: No, Due: Yes, Well: Yes}, Remove, KeptDataDue},
	{"SW-22 old", Facts{Kind: HelperPod, Locked: No, Unfinished: No, Age: old}, ByHand, HelperLeft},
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, row := range rows {
		v := Evaluate(row.facts)
		if v.Action != row.action || v.Reason != row.reason {
			t.Errorf("%s: %s (%s), want %s (%s)", row.row, v.Action, v.Reason, row.action, row.reason)
		}
		if v.Message == "" {
			t.Errorf("%s: no message", row.row)
		}
	}
}

// TestActions: each action has a name of its own, and the zero Result does nothing.
func TestActions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for a := NotKnown; a <= RemoveClaim; a++ {
		seen[a.String()] = true
	}
	if len(seen) != 5 || (Result{}).Action != NotKnown {
		t.Errorf("%v, the zero Result is %s", seen, Result{}.Action)
	}
}
