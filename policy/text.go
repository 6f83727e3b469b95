// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
)

// Count returns "1 member" or "3 members".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Names returns up to four names, how many more there are, and the verb.
func Names(names []string, singular, plural string) string {
	const listed = 4
	if len(names) == 1 {
		return names[0] + " " + singular
	}
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more %s", strings.Join(names[:listed], ", "), len(names)-listed, plural)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " " + plural
}

// List returns up to five of n items with commas, and how many more there are.
func List(n int, item func(int) string) string {
	const listed = 5
	var items []string
	for i := range min(n, listed) {
		items = append(items, item(i))
	}
	if n > listed {
		items = append(items, fmt.Sprintf("and %d more", n-listed))
	}
	return strings.Join(items, ", ")
}
