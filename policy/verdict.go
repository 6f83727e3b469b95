// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// Verdict is whether an operation may be done. The zero Verdict refuses.
type Verdict struct {
	Allowed bool
	Reason  Reason
	// Message is for users. It has the numbers and what would change the verdict.
	Message string
	// Notes are what users should know. They don't change the verdict.
	Notes []Note
}

// Allow returns a verdict that allows the operation.
func Allow(reason Reason, format string, args ...any) Verdict {
	return Verdict{Allowed: true, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Refuse returns a verdict that refuses the operation.
func Refuse(reason Reason, format string, args ...any) Verdict {
	return Verdict{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Note is what users should know about a verdict.
type Note struct {
	Reason  Reason
	Message string
}

// NewNote returns a note whose message is formatted.
func NewNote(reason Reason, format string, args ...any) Note {
	return Note{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
