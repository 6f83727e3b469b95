// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package recovery diagnoses a cluster. It finds the scenarios of DEP-01's two decision tables that
// hold: those of etcd-druid for the cluster, and those of etcd-backup-restore for a member that
// starts. Rows of its own fill the gaps of these tables. For each scenario it has the least action.
// Its table is docs/rules/recovery.md.
package recovery

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Diagnosis is what holds of a cluster.
type Diagnosis struct {
	// Scenarios has at least one element, the most urgent first.
	Scenarios []Scenario
	// Restarts has what each member will do when it starts again.
	Restarts []Restart
}

// Healthy reports whether nothing is to be done.
func (d Diagnosis) Healthy() bool { return d.Scenarios[0].Action.Do == Nothing }

// Scenario is a row that holds.
type Scenario struct {
	// ID is the row of docs/rules/recovery.md. S-1 to S-13 are DEP-01's, X-1 and so on are rows
	// for states that DEP-01's table doesn't have.
	ID     string
	Reason policy.Reason
	// Title is the state in one sentence, with the numbers.
	Title string
	// Evidence is what the row asks for, beside what was observed.
	Evidence []Evidence
	// Members are the members that the row is about.
	Members []string
	// Until is when the grace period that runs ends, zero for none. Grace is its name.
	Until time.Time
	Grace string
	// Events are what other programs will do by themselves.
	Events []Event
	Action Action
}

// Evidence is one fact that a row asks for.
type Evidence struct {
	Fact, Asked, Observed string
	// Met is false if the observed value isn't the one that DEP-01 asks for, and the row holds
	// nevertheless. docs/rules/recovery.md has the decision.
	Met bool
}

// Event is what another program will do.
type Event struct {
	Who, What string
	// At is when, zero if that is not known.
	At time.Time
}

// Action is the least action.
type Action struct {
	Do Do
	// Member is the member that it is about, empty for the cluster.
	Member string
	// Lost are the members that the command declares to be lost, where it declares any. POD stands for those that a
	// user has to name.
	Lost []string
	// Until is when the wait is over, zero for no known time.
	Until time.Time
	// Why is a sentence for users.
	Why string
}

// Do is what to do.
type Do string

// The actions. Those from RestartPod on change something.
const (
	Nothing Do = "Nothing"
	Wait    Do = "Wait"
	// InspectPod finds out why a pod doesn't run, or why its member is not well.
	InspectPod      Do = "InspectPod"
	InspectOperator Do = "InspectOperator"
	Check           Do = "Check"
	CompareClusters Do = "CompareClusters"
	ListMembers     Do = "ListMembers"
	ListSnapshots   Do = "ListSnapshots"
	// SaveSnapshot saves the data of the member that has applied most of those that still answer.
	SaveSnapshot Do = "SaveSnapshot"
	TakeBackup   Do = "TakeBackup"
	// CureAlarm removes the cause of an alarm, and disarms it.
	CureAlarm Do = "CureAlarm"
	Resume    Do = "Resume"
	// Undo ends an operation that stopped half-way, without its change.
	Undo      Do = "Undo"
	Reconcile Do = "Reconcile"
	// EndSuspension lets the operator act on the spec again.
	EndSuspension  Do = "EndSuspension"
	RestoreTraffic Do = "RestoreTraffic"
	ScaleBack      Do = "ScaleBack"
	Promote        Do = "Promote"
	RestartPod     Do = "RestartPod"
	Replace        Do = "Replace"
	RemoveMember   Do = "RemoveMember"
	DeleteLease    Do = "DeleteLease"
	// CorrectPeerURL sets the peer URL of a member in etcd's list to the one that its pod advertises.
	CorrectPeerURL Do = "CorrectPeerURL"
	// Recover restores the cluster from the data of a survivor.
	Recover Do = "Recover"
)

// Diagnose returns the scenarios that hold, and what each member will do.
func Diagnose(f Facts) Diagnosis {
	s := count(f)
	var d Diagnosis
	for _, r := range rows {
		if r.holds(s) {
			d.Scenarios = append(d.Scenarios, r.scenario(s))
		}
	}
	if len(d.Scenarios) == 0 {
		d.Scenarios = append(d.Scenarios, unclear.scenario(s))
	}
	for _, m := range f.Members {
		if m.Asked {
			d.Restarts = append(d.Restarts, s.restart(m))
		}
	}
	return d
}

// IDs returns the rows that hold, in the order of Diagnose.
func IDs(f Facts) []string {
	var ids []string
	for _, s := range Diagnose(f).Scenarios {
		ids = append(ids, s.ID)
	}
	return ids
}
