// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import "fmt"

// Findings are the results of the checks before the first step of an operation.
type Findings struct{ Refusals, Warnings, Facts []string }

// Refuse adds a reason why the operation is refused.
func (f *Findings) Refuse(format string, args ...any) {
	f.Refusals = append(f.Refusals, fmt.Sprintf(format, args...))
}

// Warn adds a warning.
func (f *Findings) Warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// Fact adds a fact.
func (f *Findings) Fact(format string, args ...any) {
	f.Facts = append(f.Facts, fmt.Sprintf(format, args...))
}

// Refused returns a *RefusedError with all refusals, nil for none. what names the operation.
func (f *Findings) Refused(what string) error {
	if len(f.Refusals) == 0 {
		return nil
	}
	return &RefusedError{What: what, Why: f.Refusals}
}
