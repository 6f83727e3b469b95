// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of steps.
var (
	MemberRestarting = reasons.Add("MemberRestarting",
		"A member has been stopped and is not back yet: its pod is Ready, it follows the leader, and it has caught up. No other member is restarted before that.",
		"Wait. If it doesn't come back, kubectl etcd status NAME and kubectl logs of its pod show why.")
	RestartComplete = reasons.Add("RestartComplete",
		"Every member that was to be restarted has a new pod and is healthy.",
		policy.NoAction)
	QuorumNeedsAll = reasons.Add("QuorumNeedsAll",
		"A restart of this member would leave fewer healthy voters than a quorum, so etcd would take no writes until it is back.",
		"Wait until the other members are healthy. With two members, every restart interrupts etcd, and kubectl etcd restart does none: add a third member first (kubectl etcd scale NAME --replicas 3), or delete the pod when clients can wait.")
	LeaderLast = reasons.Add("LeaderLast",
		"The member is the leader. It transfers its leadership before it stops, so that writes wait for one election and not for a timeout.",
		policy.NoAction)
	ConfigChanged = reasons.Add("ConfigChanged",
		"A ConfigMap or Secret that the members read has changed while they were restarted one by one. Members that were restarted before may have read the old contents.",
		"Restart the members again: kubectl etcd restart NAME.")
)
