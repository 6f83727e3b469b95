// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// preconditionRows are those about [policy.Precondition].
var preconditionRows = []struct {
	row, members string
	all, backup  policy.Status
	cures        string
	cut, stale   bool
	operation    string
	allowed      bool
	reason       policy.Reason
	notes        string
}{
	{row: "M-10 all ready", members: "vvv", allowed: true, reason: policy.AllReady},
	{row: "M-10 backups succeed", members: "vvv", all: policy.True, backup: policy.True, allowed: true, reason: policy.AllReady},
	{row: "M-10 one member", members: "v", allowed: true, reason: policy.AllReady},
	{row: "M-11 one is down", members: "vvx", reason: policy.MemberDown},
	{row: "M-11 its pod is not Ready", members: "vvm", reason: policy.MemberDown},
	{row: "M-11 its pod alone is Ready", members: "vvp", reason: policy.MemberDown},
	{row: "M-11 one is not there", members: "vv-", reason: policy.MemberDown},
	{row: "M-12 before it follows", members: "vvv", all: policy.False, reason: policy.ConditionFalse},
	{row: "M-13 backups fail", members: "vvv", backup: policy.False, reason: policy.BackupFailing},
	{row: "M-14 unknown", members: "vvv", backup: policy.Unknown, allowed: true, reason: policy.AllReady, notes: policy.BackupUnknown.Name()},
	{row: "M-15 a learner", members: "vvvV", reason: policy.LearnerPresent},
	{row: "M-16 traffic is cut", members: "vvv", cut: true, reason: policy.ClientTrafficCut},
	{row: "M-16 even to mend", members: "vvx", cut: true, cures: "main-2", reason: policy.ClientTrafficCut},
	{row: "M-17 a rollout", members: "vvv", operation: "rollout", reason: policy.OperationUnderWay},
	{row: "M-18 a rollout that waits for the broken one", members: "vvx", operation: "rollout", cures: "main-2", allowed: true, reason: policy.CuresMember},
	{row: "M-18 the broken one itself", members: "vvx", all: policy.False, backup: policy.False, cures: "main-2", allowed: true, reason: policy.CuresMember},
	{row: "M-19 nothing fresh is known", members: "vvv", stale: true, reason: policy.FactsStale},
}

func TestPrecondition(t *testing.T) {
	t.Parallel()
	for _, r := range preconditionRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			c := policytest.ClusterOf(r.members)
			c.TrafficCut, c.Stale, c.Operation = r.cut, r.stale, r.operation
			c.AllMembersReady = policy.Condition{Status: r.all, Age: time.Second}
			c.BackupReady = policy.Condition{Status: r.backup, Age: time.Second}
			v := policy.Precondition(c, r.cures)
			if v.Allowed != r.allowed || v.Reason != r.reason || policytest.ReasonsOf(v.Notes) != r.notes || v.Message == "" {
				t.Errorf("got %+v, want allowed %t for %s", v, r.allowed, r.reason)
			}
		})
	}
}
