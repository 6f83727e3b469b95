// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"
)

// gateRows are those about Gate.
var gateRows = []struct {
	row, members string
	all, backup  Status
	cures        string
	cut, stale   bool
	operation    string
	allowed      bool
	reason       string
	notes        string
}{
	{row: "M-10 all ready", members: "vvv", allowed: true, reason: AllReady},
	{row: "M-10 backups succeed", members: "vvv", all: True, backup: True, allowed: true, reason: AllReady},
	{row: "M-10 one member", members: "v", allowed: true, reason: AllReady},
	{row: "M-11 one is down", members: "vvx", reason: MemberDown},
	{row: "M-11 its pod is not Ready", members: "vvm", reason: MemberDown},
	{row: "M-11 its pod alone is Ready", members: "vvp", reason: MemberDown},
	{row: "M-11 one is not there", members: "vv-", reason: MemberDown},
	{row: "M-12 before it follows", members: "vvv", all: False, reason: ConditionFalse},
	{row: "M-13 backups fail", members: "vvv", backup: False, reason: BackupFailing},
	{row: "M-14 nobody knows", members: "vvv", backup: Unknown, allowed: true, reason: AllReady, notes: BackupUnknown},
	{row: "M-15 a learner", members: "vvvV", reason: LearnerPresent},
	{row: "M-16 traffic is cut", members: "vvv", cut: true, reason: ClientTrafficCut},
	{row: "M-16 even to mend", members: "vvx", cut: true, cures: "main-2", reason: ClientTrafficCut},
	{row: "M-17 a rollout", members: "vvv", operation: "rollout", reason: OperationUnderWay},
	{row: "M-18 a rollout that waits for the broken one", members: "vvx", operation: "rollout", cures: "main-2", allowed: true, reason: CuresMember},
	{row: "M-18 the broken one itself", members: "vvx", all: False, backup: False, cures: "main-2", allowed: true, reason: CuresMember},
	{row: "M-19 nothing fresh is known", members: "vvv", stale: true, reason: FactsStale},
}

func TestGate(t *testing.T) {
	t.Parallel()
	for _, r := range gateRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			c := ClusterOf(r.members)
			c.TrafficCut, c.Stale, c.Operation = r.cut, r.stale, r.operation
			c.AllMembersReady = Condition{Status: r.all, Age: time.Second}
			c.BackupReady = Condition{Status: r.backup, Age: time.Second}
			v := Gate(c, r.cures)
			if v.Allowed != r.allowed || v.Reason != r.reason || ReasonsOf(v.Notes) != r.notes || v.Message == "" {
				t.Errorf("got %+v, want allowed %t for %s", v, r.allowed, r.reason)
			}
		})
	}
}
