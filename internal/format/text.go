// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package format formats values for messages and tables.
package format

import (
	"fmt"
	"strings"
)

// Plural is a number with its noun: "1 member", "3 members".
func Plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Members returns a number of members: "1 member", "3 members".
func Members(n int) string { return Plural(n, "member", "members") }

// List joins names as a sentence does: "a, b and c".
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Bytes is a size for people, in powers of 1024: "1.5 GiB".
func Bytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, power := float64(n)/unit, 0
	for value >= unit && power < 4 {
		value, power = value/unit, power+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[power])
}
