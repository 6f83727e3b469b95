// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package cures lists the cures that tests on a real cluster type as they are printed. It also
// lists the reason why the tests don't type the other cures. A check that is in neither list
// fails the tests of this package.
package cures

// Typed lists the checks with a state in a test of package e2e, by the name of the test, in the order of its rows.
func Typed() map[string][]string {
	return map[string][]string{
		"TestCuresTyped":           {"B001", "B003", "B004", "B005", "B002", "T001", "T004", "R001", "M004", "M001", "Q002", "Q001"},
		"TestDruidCuresTyped":      {"O002", "O006"},
		"TestCuresTypedOnWorkload": {"W001", "W004", "W012", "W010", "W009"},
		"TestCuresTypedOnEvenSize": {"Q003"},
		"TestCuresTypedOnTie":      {"G002"},
		"TestCuresTypedByHand":     {"D005", "W002", "W005", "W006", "W007", "W008"},
	}
}

// Elsewhere lists the checks whose printed cures another test of package e2e compares and then types, on a
// cluster of its own, with the function that does so.
func Elsewhere() map[string]string {
	return map[string]string{"D004": "TestPluginCorrupt", "M002": "TestPluginReplaceTakenBack"}
}

// Compared lists the checks whose printed cures a test of package e2e only compares with the expected ones, with
// the function that does so.
func Compared() map[string]string {
	return map[string]string{"D001": "noSpace", "Q005": "TestPluginSplitBrain"}
}

// The reasons why the cures of a check are not typed.
const (
	// passes: the command that adds a learner promotes it, or removes it when it fails.
	passes = "the command that makes the state also ends it"
	// large: the state needs a database of 100 MiB. TestPluginMaintenance types defrag on a small one.
	large = "it needs a large database"
	// zones: the state needs nodes in several zones, and members that were placed before their policy.
	zones = "it needs nodes in several zones"
	// shows: the command shows what a user needs to decide, and changes nothing.
	shows = "its command only shows more"
	// edits: the cure is an order, since a user chooses the value and knows the file.
	edits = "a person edits the workload, its chart or a policy"
	// nodes: the members run together only if nodes had no room, and a volume ties each to its node.
	nodes = "it needs members that were placed on one node, and can move"
	// images: the pods of one template have several versions.
	images = "it needs two images with one name"
	// renews: the command is one of cert-manager.
	renews = "it needs cert-manager and a certificate at its end"
	// hardware: the state needs a slow disk or network, or a full volume.
	hardware = "no test can make the state in seconds"
	// etcdctl: the command gives a program of another project to the proxy, whose own tests do that, too.
	etcdctl = "its command runs etcdctl through the proxy"
	// druid: only etcd-druid brings the state about, by a failure of itself or of its store.
	druid = "etcd-druid has to fail"
)

// Untyped lists the other checks with their reasons.
func Untyped() map[string]string {
	return map[string]string{
		"Q004": shows, "Q006": shows, "Q007": hardware,
		"D002": large,
		"M003": passes, "M005": edits, "M006": shows, "M007": shows, "M008": edits, "M009": etcdctl,
		"D003": large, "D006": edits, "D007": edits, "D008": hardware, "D009": hardware, "D010": shows,
		"V001": images, "V002": edits, "V003": edits, "V004": edits,
		"C001": renews, "C002": renews, "C003": hardware,
		"P001": nodes, "P002": zones, "P003": zones,
		"W003": edits, "W011": edits,
		"R002": druid, "R003": druid,
		"O001": druid, "O003": druid, "O004": druid, "O005": druid,
		"T002": edits, "T003": shows,
		"G001": edits, "G003": shows,
	}
}
