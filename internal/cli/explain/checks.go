// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import "github.com/kubectl-etcd/kubectl-etcd/internal/health"

// checkReasons returns the checks of kubectl etcd check. Their names are the IDs.
func checkReasons() []Reason {
	var all []Reason
	for _, c := range health.All() {
		all = append(all, Reason{Name: c.ID, From: "Check of " + string(c.Category), Doc: "Good: " + c.Title + ". " + c.Doc, Do: c.Cure})
	}
	return all
}
