// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// remove is the cure of what --remove removes.
const remove = "kubectl etcd sweep --remove removes it."

// The reasons for which an object is not left over.
var (
	OperationRuns = reasons.Add("OperationRuns",
		"An operation holds the lock of the object's cluster.",
		"Wait until it ends: kubectl etcd status NAME shows it.")
	JournalRecent = reasons.Add("JournalRecent",
		"The operation of a journal began at most a day ago. It may still run, or a user may continue it.",
		policy.NoAction)
	CutInForce = reasons.Add("CutInForce",
		"Client traffic is cut, and the end of the cut has not passed.",
		policy.NoAction)
	ClusterExists = reasons.Add("ClusterExists",
		"The cluster of a lock exists. The next operation uses the lock again.",
		policy.NoAction)
	WebhookKeeps = reasons.Add("WebhookKeeps",
		"etcd-webhook is installed. It updates the budget, or holds the rollout for a policy.",
		policy.NoAction)
	MemberWanted = reasons.Add("MemberWanted",
		"The cluster should have the member, or a pod runs it. All members of a cluster that is scaled to 0 are wanted.",
		policy.NoAction)
	OperationUnfinished = reasons.Add("OperationUnfinished",
		"An operation on the cluster is unfinished, and may need the object.",
		"Continue or undo the operation: kubectl etcd status NAME shows the commands.")
	HelperRecent = reasons.Add("HelperRecent",
		"The helper pod of a restore was created at most a day ago. The restore may still run.",
		policy.NoAction)
)

// LeftoverUnknown is the reason for which nothing is done about an object.
var LeftoverUnknown = reasons.Add("LeftoverUnknown",
	"A fact that decides whether the object is left over is not known, for example because you lack a permission. Nothing that is not known is removed.",
	"Run kubectl etcd sweep as a user with the permissions that it reports.")

// The reasons for which an object is left over.
var (
	JournalOrphaned = reasons.Add("JournalOrphaned",
		"The StatefulSet of a journal does not exist, or was created again since. No command can continue the operation.",
		remove)
	JournalOfOldData = reasons.Add("JournalOfOldData",
		"A restore stopped after it may have renamed the members' data, and its StatefulSet is gone or was created again since. No command can continue the restore. The members may run without their data, which is beside their data directory under the name that kubectl etcd sweep prints.",
		"Don't restore client traffic and replace no member before you have checked that data. When you need none of it, delete the journal.")
	JournalUnfinished = reasons.Add("JournalUnfinished",
		"An operation has been unfinished for more than a day.",
		"Continue it with the command that began it, or undo it with the same command and --abort.")
	CutUnfinished = reasons.Add("CutUnfinished",
		"The end of a cut of client traffic has passed, and the restore or coordinated restart that cut it is unfinished. If clients reached the members now, they would see a cluster that is changed half-way.",
		"Continue or abort the operation: kubectl etcd sweep prints both commands. It restores client traffic at its end.")
	CutLeft = reasons.Add("CutLeft",
		"A cut of client traffic has no valid end, or its end has passed. Clients are still cut off.",
		"kubectl etcd restore-client-traffic NAME ends it.")
	SuspensionLeft = reasons.Add("SuspensionLeft",
		"A cut of client traffic has suspended the reconciliation of etcd-druid. The cut has ended, and the suspension has not.",
		"kubectl etcd restore-client-traffic NAME ends it.")
	LockOrphaned = reasons.Add("LockOrphaned",
		"The cluster of a lock does not exist, and no operation holds the lock.",
		remove)
	RolloutUngoverned = reasons.Add("RolloutUngoverned",
		"A rollout is held, although no policy holds it. etcd-webhook releases it after a time.",
		"If etcd-webhook does not release it, set the annotation kubectl-etcd.dev/rollout of the cluster to release: and a reason. kubectl etcd webhook status shows whether etcd-webhook works.")
	RolloutUnwell = reasons.Add("RolloutUnwell",
		"A rollout is held, etcd-webhook is not installed, and the cluster is not well: a member is not ready, backups fail, or client traffic is cut. Without etcd-webhook, Kubernetes restarts the next pod whatever the state of etcd is.",
		"Repair the cluster first: kubectl etcd diagnose NAME. Then run kubectl etcd sweep again.")
	RolloutLeft = reasons.Add("RolloutLeft",
		"A rollout is held, and etcd-webhook is not installed. Nothing continues the rollout.",
		"kubectl etcd sweep --remove restores the author's update strategy. Kubernetes then continues the rollout.")
	BudgetLeft = reasons.Add("BudgetLeft",
		"etcd-webhook created or changed a disruption budget, and is not installed. Nothing updates the budget.",
		"kubectl etcd sweep --remove restores the number that the author requested, but not below the quorum. It deletes a budget that etcd-webhook created.")
	StillMember = reasons.Add("StillMember",
		"etcd has a member that the cluster should not have and that no pod runs. Its lease and its volume claim may be needed to repair that.",
		"kubectl etcd diagnose NAME shows what to do.")
	LeaseLeft = reasons.Add("LeaseLeft",
		"A member of etcd-druid has left a lease, which counts as a member that is down. etcd does not have the member.",
		remove)
	ClaimLeft = reasons.Add("ClaimLeft",
		"A member that etcd does not have has left a volume claim. Its data is deleted with the claim.",
		"If the data is not needed, kubectl etcd sweep --remove --delete-claims CLAIM deletes it.")
	HelperLeft = reasons.Add("HelperLeft",
		"A restore creates a helper pod for each member, and deletes it at the end. One of them is older than a day. A user may have started the pod by a printed plan, so it is not removed.",
		"If no restore is unfinished, delete the pod: kubectl delete pod NAME.")
	OldDataKept = reasons.Add("OldDataKept",
		"A restore keeps old data, and no deadline has passed.",
		"If the old data is not needed, delete it: kubectl etcd snapshot restore NAME --discard.")
	KeptDataNeeded = reasons.Add("KeptDataNeeded",
		"A restore keeps old data whose deadline has passed. The cluster is not healthy, so the old data may be needed.",
		"kubectl etcd diagnose NAME shows what to do. Then run kubectl etcd sweep again.")
	KeptDataDue = reasons.Add("KeptDataDue",
		"A restore keeps old data whose deadline has passed.",
		remove)
)
