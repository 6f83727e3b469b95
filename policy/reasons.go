// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

// The reasons that several rules give.
const (
	ClientTrafficCut  = "ClientTrafficCut"
	FactsStale        = "FactsStale"
	BackupFailing     = "BackupFailing"
	AllReady          = "AllReady"
	MemberDown        = "MemberDown"
	ConditionFalse    = "ConditionFalse"
	BackupUnknown     = "BackupUnknown"
	LearnerPresent    = "LearnerPresent"
	OperationUnderWay = "OperationUnderWay"
	CuresMember       = "CuresMember"
	QuorumKept        = "QuorumKept"
	NoQuorum          = "NoQuorum"
	NoSuchMember      = "NoSuchMember"
	CatchingUp        = "CatchingUp"
)

// ReasonDoc says in plain words what a reason means.
type ReasonDoc struct {
	Reason string
	// Rule is the rule that gives it: Spread, Budget, Membership or Maintenance.
	Rule string
	Doc  string
}
