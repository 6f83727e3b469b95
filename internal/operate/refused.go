// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"fmt"
	"strings"
)

// RefusedError has every known reason why an operation is refused.
type RefusedError struct {
	// What is the operation: "scale StatefulSet team/main to 3 members".
	What string
	Why  []string
}

func (e *RefusedError) Error() string {
	if len(e.Why) == 1 {
		return fmt.Sprintf("cannot %s: %s", e.What, e.Why[0])
	}
	return fmt.Sprintf("cannot %s:\n  - %s", e.What, strings.Join(e.Why, "\n  - "))
}
