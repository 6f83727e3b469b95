// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// Verdict says whether an act may go ahead. The zero Verdict refuses.
type Verdict struct {
	Allowed bool
	// Reason is stable and in CamelCase.
	Reason string
	// Message is for people: the numbers, and what would change them.
	Message string
	// Notes are what a person should hear although it changes nothing.
	Notes []Note
}

func Allow(reason, format string, args ...any) Verdict {
	return Verdict{Allowed: true, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func Refuse(reason, format string, args ...any) Verdict {
	return Verdict{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Note is something a person should know about a verdict.
type Note struct {
	// Reason is stable and in CamelCase: metric label, audit annotation and Event reason.
	Reason  string
	Message string
}
