// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import "strings"

// maxSurely is how many commands of a script are searched on all its ways.
const maxSurely = 8

// perhaps reports whether the command that is inspected may not run: the ways of its script don't all
// lead to it, or that is not known.
func (w *walk) perhaps() bool {
	if w.direct {
		return false
	}
	if w.at == nil || w.maybe || w.depth > 0 || w.searched >= maxSurely {
		return true
	}
	w.searched++
	return !w.in.SurelyRuns(w.at, w.errexit)
}

// optionErrexit reports whether the options of a shell make it end at the first command that fails.
func optionErrexit(options []string) bool {
	for _, word := range options {
		if word == "errexit" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "e") {
			return true
		}
	}
	return false
}
