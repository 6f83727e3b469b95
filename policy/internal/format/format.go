// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strings"
)

// Names lists up to four pods with the right verb.
func Names(pods []string, singular, plural string) string {
	const listed = 4
	if len(pods) == 1 {
		return pods[0] + " " + singular
	}
	if len(pods) > listed {
		return fmt.Sprintf("%s and %d more %s", strings.Join(pods[:listed], ", "), len(pods)-listed, plural)
	}
	return strings.Join(pods[:len(pods)-1], ", ") + " and " + pods[len(pods)-1] + " " + plural
}

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// List joins the first few of n words.
func List(n int, word func(int) string) string {
	const listed = 5
	var words []string
	for i := range min(n, listed) {
		words = append(words, word(i))
	}
	if n > listed {
		words = append(words, fmt.Sprintf("and %d more", n-listed))
	}
	return strings.Join(words, ", ")
}
