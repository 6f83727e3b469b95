// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"fmt"
	"strings"
)

// RefusedError has every known reason why an operation is refused.
type RefusedError struct {
	// What is the operation: "scale StatefulSet team/main to 3 members". It is empty if Why is
	// the whole message.
	What string
	Why  []string
}

// Refuse returns a RefusedError whose message names the operation itself.
func Refuse(format string, args ...any) error {
	return &RefusedError{Why: []string{fmt.Sprintf(format, args...)}}
}

// RefuseTo returns a RefusedError of an operation with one reason.
func RefuseTo(what, format string, args ...any) error {
	return &RefusedError{What: what, Why: []string{fmt.Sprintf(format, args...)}}
}

func (e *RefusedError) Error() string {
	if e.What == "" {
		return strings.Join(e.Why, "; ")
	}
	if len(e.Why) == 1 {
		return fmt.Sprintf("cannot %s: %s", e.What, e.Why[0])
	}
	return fmt.Sprintf("cannot %s:\n  - %s", e.What, strings.Join(e.Why, "\n  - "))
}
