// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var topologyPolicy policy.ReasonList

// The reasons in the status of an EtcdTopologyPolicy and in its Events.
var (
	PolicyConflict = topologyPolicy.Add("PolicyConflict",
		"Two policies of the same priority select this cluster, so neither applies.",
		"Give one of them a higher spec.priority, or narrow its selectors.")
	NoConflict = topologyPolicy.Add("NoConflict",
		"No other policy of the same priority selects the same cluster.",
		policy.NoAction)
	PolicyOff = topologyPolicy.Add("PolicyOff",
		"The policy that governs the cluster is off: spec.mode is Off.",
		"Set spec.mode to Enforce, or first to Warn to see the effects.")
	PolicyWarns = topologyPolicy.Add("PolicyWarns",
		"The policy's mode is Warn. It reports the changes and does not make them.",
		"When you agree with the changes, set spec.mode to Enforce.")
	Unobserved = topologyPolicy.Add("Unobserved",
		"The controller could not read the facts, so it made no decision.",
		"Read the message for the failure. The controller tries again.")
	NotCheckedYet = topologyPolicy.Add("NotCheckedYet",
		"The controller has not checked this cluster yet.",
		"Wait a moment. If it remains, check whether etcd-webhook runs: kubectl etcd webhook status.")
	Kept = topologyPolicy.Add("Kept",
		"The members of every cluster are spread as the policy requires.",
		policy.NoAction)
	Broken = topologyPolicy.Add("Broken",
		"In at least one cluster, the members are not spread as the policy requires.",
		"The policy's status lists the clusters. A running pod doesn't move: kubectl etcd check NAME --only placement shows how its member does.")
	Protected = topologyPolicy.Add("Protected",
		"Every cluster has a disruption budget that the controller maintains.",
		policy.NoAction)
	Unprotected = topologyPolicy.Add("Unprotected",
		"At least one cluster has no disruption budget that the controller maintains.",
		"The policy's status lists the clusters with the reason.")
	Unknown = topologyPolicy.Add("Unknown",
		"Not enough facts are known yet.",
		"Wait a moment. If it remains, read etcd-webhook's logs.")
	MemberRespread = topologyPolicy.Add("MemberRespread",
		"A member's pod could not be scheduled with an injected term that would not be required now, because of its volume, the policy, or nodes that have been the same for 15 minutes. The controller deleted the pod once for that term, so that admission decides again.",
		"The pod runs now, perhaps on the node of another member. To spread the members when all are healthy: kubectl etcd member replace POD --force.")
	TermRequiredAgain = topologyPolicy.Add("TermRequiredAgain",
		"A member's pod waits for a node. It has the same required term for which the previous pod was deleted. Admission requires the term for the pod that it receives, and another webhook changes the pod afterwards. The pod is not deleted again.",
		"Compare the pod with its template: kubectl get pod POD -o yaml. Make the change of the other webhook, such as a node selector, a toleration or an affinity, in the pod template, and delete the pod.")
)
