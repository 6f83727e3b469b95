// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

var shared ReasonList

// SharedReasons returns the reasons of more than one rule. Each is also in the list of the rule
// whose page explains it.
func SharedReasons() []Reason { return shared.All() }

// The reasons of [Precondition], and of more than one rule.
var (
	ClientTrafficCut = shared.Add("ClientTrafficCut",
		"Client traffic is cut. No pod may be evicted, because a member that restarts can't rejoin before the traffic is restored.",
		"When the work is done, end the cut: kubectl etcd restore-client-traffic NAME. Otherwise, it ends at the time that kubectl etcd status NAME shows.")
	FactsStale = shared.Add("FactsStale",
		"The state of the members is unknown: no member's lease is fresh, and the operator's conditions are too old to be evidence. No pod may be evicted until the state is known again, or until the policy's staleLimit has passed.",
		"Check whether the members run and renew their leases: kubectl etcd status NAME, kubectl get leases. The members renew the leases themselves, so also check for disconnected nodes.")
	SizeUnknown = shared.Add("SizeUnknown",
		"One member of the cluster is known, and the list of its members can't be read: it is in an object that is not read, or only known in the pod. It may be a member of a larger cluster, so it is not treated as the only one: its budget allows no eviction, and an eviction is refused.",
		"Write the list of members into the pod template: the flag --initial-cluster, or the variable ETCD_INITIAL_CLUSTER with a plain value. Or set the annotation kubectl-etcd.dev/size on the StatefulSet to \"N at TIME\", with the number of voters, which kubectl etcd member list NAME shows, and the current time, as in 2026-01-31T12:00:00Z.")
	BackupFailing = shared.Add("BackupFailing",
		"Backups fail while every member is ready. No pod may be evicted until they succeed again, or until the policy's backupHoldLimit has passed.",
		"Repair the backups. kubectl etcd status NAME shows since when they fail, and the backup container's log shows why. Drains that wait then continue.")
	AllReady = shared.Add("AllReady",
		"Every member and every pod is ready. Evictions are possible down to the quorum.",
		NoAction)
	MemberDown = shared.Add("MemberDown",
		"A member is down, and the other members have a quorum. Its unready pod may be evicted. No Ready pod may be evicted.",
		"Inspect the member that is down: kubectl etcd status NAME, then kubectl logs of its pod. If its data is lost, kubectl etcd member replace POD.")
	MemberJoined = shared.Add("MemberJoined",
		"A member has joined the cluster and became ready a moment ago. Nothing shows whether it votes yet or is still a learner, so the other members are kept as if it did not vote.",
		"Wait. It counts as a voter after it has been ready for the policy's settle time.")
	ConditionFalse = shared.Add("ConditionFalse",
		"AllMembersReady is False, although leases and pods show that every member is ready. No pod may be evicted until the condition is True or too old to be evidence.",
		"Wait until the operator updates the condition. If it remains False, read etcd-druid's logs.")
	BackupUnknown = shared.Add("BackupUnknown",
		"It has been unknown for longer than a grace period whether backups succeed. This doesn't block evictions.",
		"Check whether snapshots are taken: kubectl etcd status NAME, and the log of the backup container and of the operator.")
	LearnerPresent = shared.Add("LearnerPresent",
		"The cluster has a learner that this operation has not added. etcd accepts one learner at a time, so it must be promoted or removed first.",
		"List it: kubectl etcd member list NAME. If a change of members stops at it, undo that change with --abort. Then promote the learner with kubectl etcd member promote NAME MEMBER, or remove it with kubectl etcd member remove NAME MEMBER.")
	OperationUnderWay = shared.Add("OperationUnderWay",
		"A scale operation, rollout or replacement is in progress, by the owner's operator or by this plugin.",
		"Wait until it is complete. kubectl etcd status NAME shows it. To continue one that this plugin began, run the same command again.")
	CuresMember = shared.Add("CuresMember",
		"The operation repairs, removes or replaces the broken member, so its state does not block the operation.",
		NoAction)
	QuorumKept = shared.Add("QuorumKept",
		"The remaining voters have a healthy quorum, so the change is allowed.",
		NoAction)
	NoQuorum = shared.Add("NoQuorum",
		"Fewer voters are healthy than a quorum. etcd accepts no writes and no change of its members.",
		"Bring a member back. kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes, because the members' data is needed.")
	NoSuchMember = shared.Add("NoSuchMember",
		"etcd's member list has no member with this ID, name and peer URL.",
		"List the members with kubectl etcd member list NAME, and run the command again.")
	CatchingUp = shared.Add("CatchingUp",
		"The member is too far behind the leader. A learner gets its vote after three reads in a row show it within 1,000 entries of the leader.",
		"Wait. kubectl etcd status NAME shows how far it is behind.")
)
