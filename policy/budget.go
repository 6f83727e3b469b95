// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// BudgetSettings are what an EtcdTopologyPolicy says of disruption.
type BudgetSettings struct {
	// BackupHoldLimit is how long a failed backup may hold minAvailable at the cluster's size.
	BackupHoldLimit time.Duration
	// StaleLimit is how long stale facts may hold it there.
	StaleLimit time.Duration
	// Settle is how long a looser value must have been due before it frees a ready pod.
	Settle time.Duration
}

// BudgetState is what a budget remembers between two decisions. It is kept in
// the budget's annotations. Zero times mean "not running".
type BudgetState struct {
	// LooserSince is when a value below the current one first became due.
	LooserSince time.Time
	// HoldSince is when backups were first seen failing; it survives
	// until BackupReady has been True for Settle.
	HoldSince time.Time
	// BackupTrueSince is since when BackupReady is True again after a hold.
	BackupTrueSince time.Time
	// StaleSince is since when the facts are stale.
	StaleSince time.Time
}

// BudgetFacts is what the budget rule decides on.
type BudgetFacts struct {
	Cluster Cluster
	// Current is the minAvailable in force, -1 when there is none.
	Current int
	State   BudgetState
	// Now is the decision's time: policy has no clock.
	Now time.Time
}

// BudgetVerdict is the minAvailable that a cluster's budget should have now.
type BudgetVerdict struct {
	// MinAvailable to write now.
	MinAvailable int
	// Target is what the table asks for; it differs from MinAvailable while a
	// looser value waits for Settle.
	Target int
	// Reason is the table row's name, stable and in CamelCase.
	Reason string
	// Message has the numbers, for people.
	Message string
	// State to remember.
	State BudgetState
	// Recheck is when to decide again although nothing may have changed, zero for never.
	Recheck time.Duration
	// Notes are what a person should hear: a limit that passed, an even size.
	Notes []Note
}
