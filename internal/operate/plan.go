// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

// Plan describes what an operation is about to do, for the person who must agree to it.
type Plan struct {
	// Title is the operation in one line: "scale Etcd team/main from 3 to 5 members".
	Title string
	// Facts are what the plan rests on, with the numbers: "3 of 3 voters healthy, quorum is 2".
	Facts []string
	// Steps are what will be done, in order.
	Steps []string
	// Warnings are side effects that may surprise, each a whole sentence.
	Warnings []string
}
