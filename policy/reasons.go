// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

// SeeStatus is the cure of a reason whose meaning says already what to do.
const SeeStatus = "See kubectl etcd status NAME and kubectl etcd check NAME."

var shared ReasonList

// SharedReasons returns the reasons that more than one rule gives. Each is
// in the list of the rule whose page explains it, too.
func SharedReasons() []Reason { return shared.All() }

// The reasons that [Precondition] or more than one rule gives.
var (
	ClientTrafficCut = shared.Add("ClientTrafficCut",
		"Client traffic is cut. A member that restarts can't rejoin until it is restored, so no pod may be evicted.",
		"When the work is done, end the cut: kubectl etcd restore-client-traffic NAME. Otherwise, it ends at the time that kubectl etcd status shows.")
	FactsStale = shared.Add("FactsStale",
		"No member's lease is fresh and the operator's conditions are too old to prove anything. Until something is known again, or the policy's staleLimit has passed, no pod may be evicted.",
		"Check whether the members run and renew their leases: kubectl etcd status NAME, kubectl get leases. The members renew the leases themselves, so also check for disconnected nodes.")
	BackupFailing = shared.Add("BackupFailing",
		"Backups fail while every member is ready. No pod may be evicted until they succeed again, or the policy's backupHoldLimit has passed.",
		"Repair the backups. kubectl etcd status NAME shows since when they fail, and the backup container's log shows why. Drains that wait then continue.")
	AllReady = shared.Add("AllReady",
		"Every member is ready and so is its pod: evictions are possible down to the quorum.",
		NoAction)
	MemberDown = shared.Add("MemberDown",
		"A member is down and the others are a quorum. Its unready pod may be evicted, no Ready one may.",
		"Inspect the member that is down: kubectl etcd status NAME, then kubectl logs of its pod. If its data is lost, kubectl etcd member replace POD.")
	ConditionFalse = shared.Add("ConditionFalse",
		"AllMembersReady is False although leases and pods show every member well. No pod may be evicted until the condition follows or is too old to prove anything.",
		"Wait until the operator detects the state of the leases. If it remains, read etcd-druid's logs.")
	BackupUnknown = shared.Add("BackupUnknown",
		"It has been unknown for longer than a grace period whether backups succeed. It no longer blocks evictions. Check the backup store and the operator.",
		"Check whether snapshots are still taken: kubectl etcd status NAME, and the backup container's log.")
	LearnerPresent = shared.Add("LearnerPresent",
		"A learner is there that this operation has not added. It is promoted or removed first: etcd takes one at a time.",
		"List it with kubectl etcd member list NAME. Then promote it with kubectl etcd member promote, or remove it.")
	OperationUnderWay = shared.Add("OperationUnderWay",
		"A scale, rollout or replacement is under way, by the owner's operator or by this plugin. Wait until it is over, or finish it.",
		SeeStatus)
	CuresMember = shared.Add("CuresMember",
		"The act removes or replaces the member that is broken, so its being broken is no reason against it.",
		NoAction)
	QuorumKept = shared.Add("QuorumKept",
		"The voters that are left keep a quorum of healthy ones: the change may go ahead.",
		NoAction)
	NoQuorum = shared.Add("NoQuorum",
		"Fewer voters are healthy than are a quorum, so etcd agrees to nothing, no change of its members either. Bring a member back; its data is worth more than its place.",
		"kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes.")
	NoSuchMember = shared.Add("NoSuchMember",
		"No member with that ID, name and peer URL is in etcd's list any more.",
		"List the members with kubectl etcd member list NAME, and run the command again.")
	CatchingUp = shared.Add("CatchingUp",
		"The new member is a learner and is still behind its leader. It gets its vote after three reads within 1,000 entries.",
		"Wait. kubectl etcd status NAME shows how far it is behind.")
)
