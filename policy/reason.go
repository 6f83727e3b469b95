// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// Reason is why something was decided or found. Events, conditions, annotations, audit logs and
// metrics have its name.
//
// Only [ReasonList.Add] makes a Reason, so each has a meaning, a cure and an entry in a list.
// Reasons can be compared with ==. The zero Reason means none.
type Reason struct{ name, doc, cure string }

// NoAction is the cure of a reason that needs none.
const NoAction = "Nothing needs to be done."

// Name returns the name, which is stable and in CamelCase.
func (r Reason) Name() string { return r.name }

// Doc returns what the reason means, in whole sentences.
func (r Reason) Doc() string { return r.doc }

// Cure returns what to do about it, in whole sentences.
func (r Reason) Cure() string { return r.cure }

// String returns the name.
func (r Reason) String() string { return r.name }

// Equal reports whether both are the same reason. cmp.Diff uses it.
func (r Reason) Equal(other Reason) bool { return r == other }

// ReasonList is the reasons of a rule or a topic, in the order in which they
// are declared. The zero ReasonList is empty.
type ReasonList struct{ reasons []Reason }

// Add makes a reason and appends it to the list.
func (l *ReasonList) Add(name, doc, cure string) Reason {
	return l.Include(Reason{name, doc, cure})
}

// Include appends a reason that another list has, too.
func (l *ReasonList) Include(r Reason) Reason {
	l.reasons = append(l.reasons, r)
	return r
}

// All returns a copy of the list.
func (l *ReasonList) All() []Reason { return slices.Clone(l.reasons) }
