// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"regexp"
	"strings"
)

// expansion finds the use of a variable with braces, such as ${NAME:?} and ${NAME%/}, and a reference of Kubernetes,
// $(NAME). A shell takes that for the output of a command, such as $(hostname).
var expansion = regexp.MustCompile("\\$\\{(\\w+)(?:[:?%#=+-][^{}]*)?\\}|\\$\\((\\w+)(?: -s)?\\)|`(\\w+)`")

// unbraced writes each variable of a word without braces, since ${NAME} is $NAME.
func unbraced(word string) string { return expansion.ReplaceAllString(word, "$$${1}${2}${3}") }

// named finds a variable in a word without braces.
var named = regexp.MustCompile(`\$[A-Za-z_]\w*`)

// maxPath is the length of the longest path of Linux.
const maxPath = 4096

// spellings returns a word with its variables as they are written, and with the values that are known of them: what names
// the folder of data may have the one, and what deletes it the other.
func (d *dataNames) spellings(word string) []string {
	written := unbraced(word)
	if d.variable == nil || len(written) > maxPath || !strings.Contains(written, "$") {
		return []string{written}
	}
	left := maxPath
	expanded := named.ReplaceAllStringFunc(written, func(reference string) string {
		value, ok := d.variable(reference[1:])
		if left -= len(value); !ok || left < 0 {
			return reference
		}
		return unbraced(value)
	})
	return append([]string{written}, strings.Fields(expanded)...)
}
