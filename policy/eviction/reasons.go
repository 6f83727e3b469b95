// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package eviction

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons that only this rule has, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of the rule's verdicts, beside those that it shares with the budget and membership rules.
var (
	NotMember = reasons.Add("NotMember",
		"The pod runs no member of the cluster: it belongs to none, is Pending and never started etcd, has ended, or is being deleted already.",
		policy.NoAction)
	OneMember = reasons.Add("OneMember",
		"The cluster has one member. Nothing can keep it available while its pod moves, so the eviction is allowed.",
		"Expect an interruption, or scale to three members: kubectl etcd scale NAME --replicas 3.")
	EvictionUnderWay = reasons.Add("EvictionUnderWay",
		"The eviction of another member was admitted a moment ago. Without both, fewer healthy voters than a quorum would be left.",
		"Wait. kubectl drain retries by itself, and continues once the evicted member is ready again.")
	QuorumNeedsMember = reasons.Add("QuorumNeedsMember",
		"Without this member, fewer healthy voters than a quorum would be left.",
		"Bring the other members back first: kubectl etcd status NAME shows which are not healthy, and why. The pod of a member that is down may be evicted while the others have a quorum.")
)
