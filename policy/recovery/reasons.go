// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of this rule.
func Reasons() []policy.Reason { return reasons.All() }

const (
	diagnoseAgain = "Wait until the time that kubectl etcd diagnose NAME shows, and run it again."
	druidUpdates  = "Wait a moment: etcd-druid updates the status every 15 seconds. If it stays, read the log of etcd-druid."
)

// The reasons of the scenarios of DEP-01's table for etcd-druid, S-1 to S-13.
var (
	PinkOfHealth = reasons.Add("PinkOfHealth",
		"S-1: as many members as desired, all healthy, and every condition is True or not set.",
		policy.NoAction)
	StatusBehind = reasons.Add("StatusBehind",
		"S-2: the status that etcd-druid reports of members doesn't follow from their leases.", druidUpdates)
	AllMembersReadyComes = reasons.Add("AllMembersReadyComes",
		"S-3: all members are healthy, and the condition AllMembersReady is still False.", druidUpdates)
	AllMembersReadyIsOld = reasons.Add("AllMembersReadyIsOld",
		"S-4: not all members are healthy, and the condition AllMembersReady is still True.", druidUpdates)
	ReadyComes = reasons.Add("ReadyComes",
		"S-5: the quorum holds, and the condition Ready is still False.", druidUpdates)
	ReadyIsOld = reasons.Add("ReadyIsOld",
		"S-6: the quorum is lost, and the condition Ready is still True. etcd-druid counts members that are Unknown as ready.", druidUpdates)
	UnknownForLong = reasons.Add("UnknownForLong",
		"S-7: the status of a member has been Unknown for longer than a minute. etcd-druid marks it NotReady 5 minutes after it became Unknown.", diagnoseAgain)
	PodsUnready = reasons.Add("PodsUnready",
		"S-8: the pod of a member is not Ready, and the status of the member still is. etcd-druid goes by the lease until it is a minute old.", druidUpdates)
	MinorityDown = reasons.Add("MinorityDown",
		"S-9: the quorum holds, and a member has not come back within its grace period.",
		"Run the command that kubectl etcd diagnose NAME prints: it shows why the pod doesn't run, starts it again, or replaces a member whose data is known to be lost.")
	QuorumLost = reasons.Add("QuorumLost",
		"S-10: the quorum is lost, and too few members that have their data are within their grace period to bring it back.",
		"Bring back members that have their data, and delete no pod, claim or volume. If the data of too many is lost, restore what a survivor has: kubectl etcd recover NAME.")
	ScaleUp = reasons.Add("ScaleUp",
		"S-11: the cluster is healthy and has fewer members than desired.",
		"Wait. If nothing is under way, the cluster's operator has not acted yet, or the StatefulSet was scaled without kubectl etcd scale.")
	ScaleDown = reasons.Add("ScaleDown",
		"S-12: the cluster is healthy and has more members than desired. Where an operator or a command removes members, those with the highest ordinals go.",
		"Wait. If nothing is under way, the cluster's operator has not acted yet.")
	Superfluous = reasons.Add("Superfluous",
		"S-13: a member that the cluster should not have has left an entry in etcd's list, a lease or an entry in the status, and has no pod.",
		"Remove what is left: kubectl etcd member remove NAME MEMBER, if its rules allow it, and the lease of a member that etcd doesn't have.")
)

// The reasons of the scenarios that DEP-01's table doesn't have, X-1 and so on.
var (
	Hibernated = reasons.Add("Hibernated", "X-1: the cluster is scaled to 0 members.", policy.NoAction)
	SplitBrain = reasons.Add("MembersOfSeveralClusters",
		"X-2: the members belong to different etcd clusters: they report different cluster IDs, or one ID with two leaders that each have a quorum and a list of their own.",
		"Compare the clusters: kubectl etcd check NAME --only Q005. Stop and delete nothing before it is known which one has the right data.")
	QuorumMayReturn = reasons.Add("QuorumMayReturn",
		"X-3: the quorum is lost, and enough members to bring it back are within their grace period, with their data.", diagnoseAgain)
	Unclear = reasons.Add("Unclear",
		"X-4: nothing is known of a member, because a permission or an answer is missing.",
		"Find out what could not be read: kubectl etcd check NAME --only quorum,members.")
	Bootstrapping = reasons.Add("Bootstrapping",
		"X-5: the cluster was created less than 5 minutes ago, and nothing shows that it has had a quorum.", diagnoseAgain)
	Interrupted = reasons.Add("Interrupted",
		"X-6: an operation of this plugin has stopped half-way.",
		"Continue it, or undo it: kubectl etcd status NAME prints both commands.")
	MayReturn = reasons.Add("MayReturn",
		"X-7: the quorum holds, and a member that is not ready is within its grace period.", diagnoseAgain)
	PodNotMember = reasons.Add("PodNotMember",
		"X-8: a pod of the cluster is not a member of etcd.",
		"Give it a new member: kubectl etcd member replace POD. Where another program manages the members, read its log.")
	LearnerLeft = reasons.Add("LearnerLeft",
		"X-9: a learner exists, and no operation is under way that promotes it.",
		"Promote it when it has caught up, or find out why its sidecar doesn't.")
	UnderWay     = reasons.Add("UnderWay", "X-10: a scale, a rollout or a replacement is under way.", "Wait until it is complete.")
	ScaleBlocked = reasons.Add("ScaleBlocked",
		"X-11: the cluster has another number of members than desired, and a member is not ready. DEP-01 scales only healthy clusters.",
		"Repair the member first.")
	BackupsFail = reasons.Add("BackupsFail",
		"X-12: BackupReady is False.",
		"Take a backup now. Its error shows the cause: kubectl etcd snapshot save NAME.")
	UnreadyButWell = reasons.Add("UnreadyButWell",
		"X-13: a member answers and follows the leader, and its pod is not Ready.",
		"Find out which container or probe fails: kubectl describe pod POD.")
	Cut = reasons.Add("TrafficIsCut",
		"X-14: client traffic is cut.",
		"When the work is done: kubectl etcd restore-client-traffic NAME.")
	Unconfirmed = reasons.Add("Unconfirmed",
		"X-15: etcd-druid gives no current status: its conditions are Unknown, or were last confirmed more than 2 minutes ago.",
		"Find out whether etcd-druid runs, and read its log.")
	BackupsUnknown = reasons.Add("BackupsUnknown",
		"X-16: BackupReady is Unknown, or too old to be evidence. Around each full snapshot it is Unknown for a moment.",
		diagnoseAgain)
	PodsDiffer = reasons.Add("PodsDiffer",
		"X-17: all members are healthy and as many as desired, and the workload has another number of replicas or of Ready pods.",
		"Wait. If nothing is under way, find out what set the replicas: kubectl etcd status NAME shows the owner.")
	BeganWithoutData = reasons.Add("BeganWithoutData",
		"X-18: the members with the quorum lost their data and began again, and a member that does not answer ran before them, or may have had data before them, since its volume is older. Only that member can have the earlier data.",
		"Don't restart, replace or remove that member, and delete no pod, claim or volume of it. Keep clients from writing, and copy its data directory before it runs again.")
	AlarmRaised = reasons.Add("AlarmRaised",
		"X-19: an alarm of etcd is raised, NOSPACE or CORRUPT. With NOSPACE, etcd refuses writes that may grow the database. With CORRUPT, it refuses reads, too.",
		"For NOSPACE: kubectl etcd defrag NAME, which compacts, defragments, and disarms. For CORRUPT: kubectl etcd check NAME --only D004 shows which member differs. Replace it, and only then disarm.")
	WrongPeerAddress = reasons.Add("WrongPeerAddress",
		"X-20: the peer URL of a member in etcd's list does not lead to its pod. When the current connections end, the others can't connect to it again.",
		"Set it to the one that the pod advertises: kubectl etcd check NAME --only M009 prints the command.")
	OperatorSuspended = reasons.Add("OperatorSuspended",
		"X-21: an annotation on the Etcd suspends etcd-druid, which has not acted on the current spec. A runbook or a restore that stopped half-way may have left it.",
		"If the work for which it was set is done, remove it: kubectl etcd diagnose NAME prints the command.")
)

// The reasons of what a member does when it starts, I-1 to I-8 of DEP-01's table for
// etcd-backup-restore, and three more.
var (
	FirstMember = reasons.Add("FirstMember", "I-1: the first member of a new cluster.", policy.NoAction)
	NextMember  = reasons.Add("NextMember", "I-2: a following member of a new cluster.", policy.NoAction)
	KeepsData   = reasons.Add("KeepsData", "I-3: the quorum holds, and the member has its data.", policy.NoAction)
	DamagedData = reasons.Add("DamagedData",
		"I-4: the quorum holds, and the log of the member shows that its data is lost or can't be read.",
		"etcd-druid's sidecar gives it a new member. Elsewhere: kubectl etcd member replace POD.")
	NoMetadata = reasons.Add("NoMetadata",
		"I-5: the quorum holds, and the member has no volume with data.",
		"etcd-druid's sidecar gives it a new member. Elsewhere: kubectl etcd member replace POD.")
	KeepsDataUnquorate = reasons.Add("KeepsDataWithoutQuorum",
		"I-6: there is no quorum, and the member has its data.",
		"Start it. Its data may be the newest.")
	RestoresBackup = reasons.Add("RestoresBackup",
		"I-7: there is no quorum, and the first member or the only one has no data.",
		"Restore a snapshot: kubectl etcd snapshot restore FILE NAME.")
	WaitsForQuorum = reasons.Add("WaitsForQuorum",
		"I-8: there is no quorum, and a member other than the first has no data, or others still have their data.",
		"Start the members with data first.")
	JoinsAsNew = reasons.Add("JoinsAsNew",
		"I-9: the quorum holds, and etcd doesn't have the member.",
		"Add it: kubectl etcd member replace POD, or what manages the members.")
	RestartUnclear = reasons.Add("RestartUnclear",
		"I-10: it is not known what the member will do. Its volume, the member list or the quorum is not known, its volume claim is being deleted, or the members belong to several clusters.",
		"Find out what could not be read: kubectl etcd check NAME --only quorum,members.")
	MeetsNewLog = reasons.Add("MeetsNewLog",
		"I-11: the others began without data (X-18), and the member has the earlier data, or may have it.",
		"Copy its data directory before it runs again.")
)

// The reasons for which recover acts or refuses.
var (
	SurvivorsRecover = reasons.Add("SurvivorsRecover",
		"The quorum is lost, the data of too many members is lost for good, and members that answer have theirs: the cluster can be restored from them.",
		policy.NoAction)
	NotAMember = reasons.Add("RecoverUnknownMember",
		"A member that the cluster doesn't have was declared to be lost.",
		"Name members as kubectl etcd status NAME does.")
	StillAnswers = reasons.Add("RecoverStillAnswers",
		"A member was declared to be lost, and it answers.",
		"Leave it out of --lost.")
	RecoverSplit = reasons.Add("RecoverSeveralClusters",
		"The members belong to different etcd clusters.",
		"Decide which cluster is the right one: kubectl etcd member list NAME.")
	RecoverHibernated = reasons.Add("RecoverHibernated",
		"The cluster is scaled to 0 members.",
		"Scale it out first.")
	QuorumNotLost = reasons.Add("RecoverQuorumNotLost",
		"It is not certain that the quorum is lost.",
		"See what is known: kubectl etcd diagnose NAME.")
	ScaledAway = reasons.Add("RecoverScaledAway",
		"Voters were scaled away, and the volumes of their pods are there.",
		"Run the command that kubectl etcd diagnose NAME prints: it scales back out.")
	DataMayReturn = reasons.Add("RecoverDataMayReturn",
		"The members that answer and those whose data may be there are enough for a quorum.",
		"Bring these members back, as kubectl etcd diagnose NAME shows. If the data of one is lost for good, declare it with --lost POD.")
	SurvivorSilent = reasons.Add("RecoverMemberSilent",
		"A member that was not declared to be lost did not answer. Its data may be there, and may be all that is left.",
		"Bring it back, as kubectl etcd diagnose NAME shows, and run the same command again. If it has restarted, it can't answer without a quorum: restore its data from its volume with --from-volume POD. Only if its data is lost for good, declare it with --lost POD.")
	NoSurvivor = reasons.Add("RecoverNoSurvivor",
		"No member answers with its data, and the data of each is lost or was declared to be lost.",
		"If a volume may have data, restore that: kubectl etcd recover NAME --from-volume POD. Otherwise restore a backup: kubectl etcd snapshot restore FILE NAME.")
)
