// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package operate is how the plugin changes an etcd cluster safely: it knows the
// permissions that an operation needs, holds the cluster's one lock, and tells
// the cluster what was done. It asks policy what may be done and prints nothing.
// Only the plugin calls it.
package operate

// Plan is what an operation is about to do, in words for whoever must agree to it.
type Plan struct {
	// Title says it in one line: "scale Etcd team/main from 3 to 5 members".
	Title string
	// Facts are what it rests on, with the numbers: "3 of 3 voters healthy, quorum is 2".
	Facts []string
	// Steps are what will be done, in order.
	Steps []string
	// Warnings are what may surprise, each a whole sentence.
	Warnings []string
}
