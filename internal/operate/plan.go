// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"fmt"
	"slices"
)

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
	// Passing are warnings that contain an error or a state of the moment. Made again, the plan may have other texts, but no
	// other kinds.
	Passing []Passing
	// Waits are warnings of states of the moment that the operation waits for. The user agrees to the plan whether it has
	// them or not.
	Waits []string
	// Already is the sentence to print if there is nothing to do. Then there is no title.
	Already string
	// Subject identifies the objects of the plan, and what the plan replaces or deletes in them: these may be others under
	// the same title and steps when the plan is made again. Users don't see it.
	Subject string
	// Continues is true for the rest of a change that a journal has. Its steps are those that are left at the moment.
	Continues bool
	// Typed is the name that the user must type to confirm the plan. It is empty for a yes.
	Typed string
	// Unconfirmed is why -y alone does not confirm the plan, and what does. It is empty if -y does.
	Unconfirmed string
	// Needs are the permissions that are only known from the facts.
	Needs []Need
}

// Passing is a warning that reads otherwise when its plan is made again.
type Passing struct {
	// Kind is the same for all texts of the warning: its format.
	Kind string
	// Text is a whole sentence.
	Text string
}

// Passingf returns a warning whose kind is its format.
func Passingf(format string, args ...any) Passing {
	return Passing{Kind: format, Text: fmt.Sprintf(format, args...)}
}

// AllWarnings returns the texts of all warnings, in the order in which they are printed.
func (p Plan) AllWarnings() []string {
	all := slices.Clone(p.Warnings)
	for _, w := range p.Passing {
		all = append(all, w.Text)
	}
	return append(all, p.Waits...)
}

// warnsOf reports whether a plan has a passing warning of the kind of another one.
func (p Plan) warnsOf(w Passing) bool {
	return slices.ContainsFunc(p.Passing, func(has Passing) bool { return has.Kind == w.Kind })
}

// Agreed reports whether a plan that is made again is the one that a user has agreed to. Their titles, subjects and steps are
// the same, it warns of nothing that the user has not read, and it asks for the same confirmation. Facts and what is waited
// for may differ: they change all the time, as revisions do. What matters of the facts is in the subject.
func (p Plan) Agreed(agreed Plan) bool {
	return p.Title == agreed.Title && p.Subject == agreed.Subject &&
		(p.Continues || slices.Equal(p.Steps, agreed.Steps)) &&
		p.Typed == agreed.Typed && p.Unconfirmed == agreed.Unconfirmed &&
		!slices.ContainsFunc(p.Warnings, func(w string) bool { return !slices.Contains(agreed.Warnings, w) }) &&
		!slices.ContainsFunc(p.Passing, func(w Passing) bool { return !agreed.warnsOf(w) })
}
