// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// Verdict says whether an act may go ahead. The zero Verdict refuses.
type Verdict struct {
	Allowed bool
	Reason  Reason
	// Message is for people: the numbers, and what would change them.
	Message string
	// Notes are what a person should know although it changes nothing.
	Notes []Note
}

// Allow returns the verdict that lets an act go ahead.
func Allow(reason Reason, format string, args ...any) Verdict {
	return Verdict{Allowed: true, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Refuse returns the verdict that stops an act.
func Refuse(reason Reason, format string, args ...any) Verdict {
	return Verdict{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Note is something a person should know about a verdict.
type Note struct {
	Reason  Reason
	Message string
}

// NewNote returns a note whose message is formatted.
func NewNote(reason Reason, format string, args ...any) Note {
	return Note{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
