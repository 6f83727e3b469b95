// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

// Plan describes an operation for the user, who must confirm it.
type Plan struct {
	// Title is the operation in one line: "scale Etcd team/main from 3 to 5 members".
	Title string
	// Facts are the reasons for the plan, with numbers: "3 of 3 voters healthy, quorum is 2".
	Facts []string
	// Steps are the steps of the operation, in order.
	Steps []string
	// Warnings are side effects that the user may not expect. Each is a whole sentence.
	Warnings []string
	// Already is the sentence to print if there is nothing to do. Then there is no title.
	Already string
	// Subject identifies the objects of the plan, which may be other objects under the same
	// title when the plan is made again. Users don't see it.
	Subject string
	// Typed is the name that the user must type to confirm the plan. It is empty for a yes.
	Typed string
	// Unconfirmed is why -y alone does not confirm the plan, and what does. It is empty if -y does.
	Unconfirmed string
	// Needs are the permissions that are only known from the facts.
	Needs []Need
}
