// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package cures lists the cures that tests on a real cluster type as they are printed. It also
// lists the reason why the tests don't type the other cures. A check that is in neither list
// fails the tests of this package.
package cures

// Typed lists the checks with a state in TestCuresTyped of package e2e, in the order of its
// rows.
func Typed() []string {
	return []string{"B001", "B003", "B004", "B005", "B002", "T001", "T004", "R001", "M004", "M001", "Q001"}
}

// The reasons why the cures of a check are not typed.
const (
	// elsewhere: another test of package e2e types the cure on its own cluster.
	elsewhere = "another test types it"
	// shows: the command shows what a user needs to decide, and changes nothing.
	shows = "its command only shows more"
	// edits: a user edits their own object or file.
	edits = "a person edits the workload, its chart or a policy"
	// restarts: the cure restarts members one after the other, which takes minutes.
	restarts = "it restarts the members one by one"
	// hardware: the state needs a slow disk or network, or a full volume.
	hardware = "no test can make the state in seconds"
	// druid: the cure is a command on an Etcd, and the cluster is plain.
	druid = "it is about an Etcd"
)

// Untyped lists the other checks with their reasons.
func Untyped() map[string]string {
	return map[string]string{
		"Q002": shows, "Q003": elsewhere, "Q004": shows, "Q005": elsewhere, "Q006": shows, "Q007": hardware,
		"M002": elsewhere, "M003": elsewhere, "M005": edits, "M006": shows, "M007": shows, "M008": edits,
		"D001": elsewhere, "D002": elsewhere, "D003": elsewhere, "D004": elsewhere, "D005": edits, "D006": edits, "D007": edits, "D008": hardware, "D009": hardware,
		"V001": edits, "V002": edits, "V003": edits, "V004": edits,
		"C001": edits, "C002": edits, "C003": hardware,
		"P001": edits, "P002": edits, "P003": elsewhere,
		"W001": restarts, "W002": edits, "W003": edits, "W004": restarts, "W005": edits, "W006": edits, "W007": edits, "W008": edits, "W009": edits, "W010": restarts, "W011": edits,
		"R002": druid, "R003": druid,
		"O001": druid, "O002": druid, "O003": druid, "O004": druid, "O005": druid, "O006": druid,
		"T002": edits, "T003": shows,
		"G001": edits, "G002": edits, "G003": shows,
	}
}
