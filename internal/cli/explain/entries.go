// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// entry is a reason or a check, as this command shows it.
type entry struct {
	name string
	// topic is the component or rule that the entry is from, such as "Budget rule". The list is
	// grouped by it.
	topic, doc, cure string
}

// entries returns all reasons, and then the checks of kubectl etcd check under their IDs.
func entries() []entry {
	var all []entry
	for _, topic := range reasons.All() {
		for _, r := range topic.Reasons {
			all = append(all, entry{r.Name(), topic.Name, r.Doc(), r.Cure()})
		}
	}
	for _, c := range health.All() {
		all = append(all, entry{c.ID, "Check of " + string(c.Category), "Good: " + c.Title + ". " + c.Doc, c.Cure})
	}
	return all
}

// find ignores the case of the name.
func find(name string) (entry, bool) {
	all := entries()
	i := slices.IndexFunc(all, func(e entry) bool { return strings.EqualFold(e.name, name) })
	if i < 0 {
		return entry{}, false
	}
	return all[i], true
}
