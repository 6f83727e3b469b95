// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// Action is what may be done about an object. The zero Action is NotKnown.
type Action int

// The actions.
const (
	// NotKnown means that a fact is not known, so nothing is done.
	NotKnown Action = iota
	// InUse means that the object is not left over.
	InUse
	// ByHand means that a user must decide, with another command.
	ByHand
	// Remove means that the object may be removed, or that what it was before may be restored.
	Remove
	// RemoveClaim means the same for a volume claim, whose data goes with it.
	RemoveClaim
)

// String returns the action as output shows it.
func (a Action) String() string {
	switch a {
	case InUse:
		return "InUse"
	case ByHand:
		return "ByHand"
	case Remove:
		return "Remove"
	case RemoveClaim:
		return "RemoveClaim"
	case NotKnown:
	}
	return "Unknown"
}

// Result is the result of the rule. The zero Result does nothing.
type Result struct {
	Action Action
	Reason policy.Reason
	// Message is for users, without a full stop.
	Message string
}

// Evaluate returns what may be done about an object. The rows of docs/rules/sweep.md are in the same
// order; the first that applies wins.
func Evaluate(f Facts) Result {
	if f.Locked == Yes {
		return Result{InUse, OperationRuns, "an operation holds the lock of its cluster"}
	}
	if v, used := f.inUse(); used {
		return v
	}
	if what := f.unknown(); what != "" {
		return Result{NotKnown, LeftoverUnknown, "it is not known " + what}
	}
	return f.left()
}

// inUse returns the verdict on an object that something shows not to be left over.
func (f Facts) inUse() (Result, bool) {
	switch f.Kind {
	case Journal:
		return Result{InUse, JournalRecent, "its operation began at most a day ago"}, f.Cluster == Yes && f.Replaced == No && f.Age <= Recent
	case ClientTraffic, Suspension:
		return Result{InUse, CutInForce, "client traffic is cut, and the end of the cut has not passed"}, f.InForce == Yes
	case Lock:
		return Result{InUse, ClusterExists, "its cluster exists"}, f.Cluster == Yes
	case Rollout:
		return Result{InUse, WebhookKeeps, "etcd-webhook holds it for a policy"}, f.Installed == Yes && f.Governed == Yes
	case Budget:
		return Result{InUse, WebhookKeeps, "etcd-webhook is installed"}, f.Installed == Yes
	case MemberLease, VolumeClaim:
		return f.memberInUse()
	case HelperPod:
		if f.Unfinished != Yes && f.Age <= Recent {
			return Result{InUse, HelperRecent, "it was created at most a day ago"}, true
		}
		return f.operationUnfinished()
	case KeptData:
		return f.operationUnfinished()
	}
	return Result{}, false
}

// memberInUse returns inUse for what belongs to one member.
func (f Facts) memberInUse() (Result, bool) {
	switch {
	case f.Wanted == Yes:
		return Result{InUse, MemberWanted, "the cluster should have its member"}, true
	case f.Runs == Yes:
		return Result{InUse, MemberWanted, "a pod uses it"}, true
	}
	return f.operationUnfinished()
}

func (f Facts) operationUnfinished() (Result, bool) {
	return Result{InUse, OperationUnfinished, "an operation on its cluster is unfinished"}, f.Unfinished == Yes
}

// left returns the verdict on an object that is left over. All facts of its kind are known.
func (f Facts) left() Result {
	switch f.Kind {
	case Journal:
		return f.journalLeft()
	case ClientTraffic, Suspension:
		return f.cutLeft()
	case Lock:
		return Result{Remove, LockOrphaned, "its cluster does not exist, and no operation holds it"}
	case Rollout:
		return f.rolloutLeft()
	case Budget:
		return Result{Remove, BudgetLeft, "etcd-webhook is not installed, and nothing updates it"}
	case MemberLease, VolumeClaim:
		return f.memberLeft()
	case HelperPod:
		return Result{ByHand, HelperLeft, "it has the label of a restore's helper, and is older than a day"}
	case KeptData:
		return f.keptLeft()
	}
	return Result{}
}

func (f Facts) keptLeft() Result {
	switch {
	case f.Due == No:
		return Result{ByHand, OldDataKept, "a restore keeps old data for it"}
	case f.Well == No:
		return Result{ByHand, KeptDataNeeded, "a restore keeps old data for it, the deadline has passed, and the cluster is not healthy: the old data may be needed"}
	}
	return Result{Remove, KeptDataDue, "a restore keeps old data for it, and the deadline has passed"}
}

func (f Facts) journalLeft() Result {
	switch {
	case f.Aside && (f.Cluster == No || f.Replaced == Yes):
		return Result{ByHand, JournalOfOldData, "its StatefulSet is gone or was created again since, and its restore may have set old data aside on the members' volumes"}
	case f.Cluster == No:
		return Result{Remove, JournalOrphaned, "its StatefulSet does not exist"}
	case f.Replaced == Yes:
		return Result{Remove, JournalOrphaned, "its StatefulSet was created again since"}
	}
	return Result{ByHand, JournalUnfinished, "its operation has been unfinished for more than a day"}
}

func (f Facts) cutLeft() Result {
	switch {
	case f.Unfinished == Yes:
		return Result{ByHand, CutUnfinished, "an operation that cuts client traffic is unfinished, and restores it at its end: before that, clients would reach a cluster that is changed half-way"}
	case f.Kind == Suspension:
		return Result{ByHand, SuspensionLeft, "etcd-druid does not reconcile it because of a cut, and client traffic is not cut"}
	}
	return Result{ByHand, CutLeft, "the end of the cut has passed or is not valid, and clients are still cut off"}
}

func (f Facts) rolloutLeft() Result {
	switch {
	case f.Installed == Yes:
		return Result{ByHand, RolloutUngoverned, "no policy holds it, and etcd-webhook has not released it"}
	case f.Cluster == Yes && f.Well == No:
		return Result{ByHand, RolloutUnwell, "etcd-webhook is not installed, and the cluster is not well: the rollout would restart members without regard for that"}
	}
	return Result{Remove, RolloutLeft, "etcd-webhook is not installed, and nothing continues it"}
}

func (f Facts) memberLeft() Result {
	switch {
	case f.Listed == Yes:
		return Result{ByHand, StillMember, "etcd still has its member, which the cluster should not have"}
	case f.Kind == VolumeClaim:
		return Result{RemoveClaim, ClaimLeft, "etcd does not have its member, and no pod uses it"}
	}
	return Result{Remove, LeaseLeft, "etcd does not have its member, and no pod runs it"}
}
