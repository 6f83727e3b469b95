// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/kubectl-etcd/kubectl-etcd/internal/check"

// checkReasons are what kubectl etcd check looks at, by their IDs.
func checkReasons() []reason {
	var all []reason
	for _, c := range check.All() {
		all = append(all, reason{name: c.ID, from: "Check of " + string(c.Category), doc: "Good: " + c.Title + ". " + c.Doc, do: c.Cure})
	}
	return all
}
