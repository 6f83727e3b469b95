// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of nodes and waves.
var (
	OtherPodsBlock = reasons.Add("OtherPodsBlock",
		"kubectl drain would stop before it evicts a pod of the node, because of a pod that is not a member. It is a pod of a DaemonSet, a pod with data in an emptyDir, or a pod without a controller.",
		"If the pod may be evicted, add the flag that the message names.")
	SeveralBudgets = reasons.Add("SeveralBudgets",
		"Several disruption budgets select the pod of a member. The API server fails every eviction of such a pod with an internal error, so each drain of its node fails.",
		"Narrow the selector of a budget until one budget is left for the pod: kubectl etcd check NAME shows which.")
	BudgetBlocks = reasons.Add("BudgetBlocks",
		"The disruption budget of a member allows no eviction now, although the rule about evictions allows it.",
		"kubectl etcd check NAME shows why the budget has its value: for example, backups fail, or a member is not ready. Remove the cause, and the budget follows.")
	MembersShareNode = reasons.Add("MembersShareNode",
		"The node runs several members of one cluster that can't leave together, and the first one that leaves can't run on another node. So the next one would leave while it is down.",
		"Let another node run a member: add a node, or uncordon one. Members are spread over nodes by an EtcdTopologyPolicy.")
	MembersInBatches = reasons.Add("MembersInBatches",
		"The node runs several members of one cluster that can't leave together. They are evicted one after the other: each must be ready on another node before the next one leaves.",
		policy.NoAction)
	WaveQuorum = reasons.Add("WaveQuorum",
		"Drained together, the nodes would leave a cluster with fewer healthy voters than a quorum. So one of them is in a later wave.",
		policy.NoAction)
	WaveBudget = reasons.Add("WaveBudget",
		"Drained together, the nodes would need more evictions than a disruption budget of members allows. So one of them is in a later wave.",
		policy.NoAction)
	AwaitMember = reasons.Add("AwaitMember",
		"A member that a wave evicts must be ready again before the next wave.",
		"Wait. If it doesn't come back, kubectl etcd status NAME shows why.")
	AwaitUncordon = reasons.Add("AwaitUncordon",
		"A member that a wave evicts can run on no node that stays open: because of its node selector, affinity, tolerations, volume, or the required terms that keep members apart.",
		"When the maintenance of its node is done, uncordon the node: kubectl uncordon NODE. Or add a node on which the member can run.")
	HostsUnknown = reasons.Add("HostsUnknown",
		"It is not known on which nodes a member that a wave evicts can run.",
		"Get the permission that the message names. Without it, wait until the pod is ready, and uncordon its node if it stays Pending.")
)
