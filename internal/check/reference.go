// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:generate env UPDATE=1 go test -count=1 -run ^TestReference$ .

// referenceHead is what stands above the list.
//
//go:embed reference.md
var referenceHead string

// Reference is docs/reference/checks.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	var category Category
	for _, c := range All() {
		if c.Category != category {
			category = c.Category
			fmt.Fprintf(&b, "\n## %s\n", category)
		}
		fmt.Fprintf(&b, "\n### %s: %s\n\n%s\n\n%s\n", c.ID, c.Title, wrap(c.Doc), wrap("**Cure:** "+c.Cure))
	}
	return b.String()
}

// wrap breaks a paragraph into lines as the other documents have them.
func wrap(text string) string {
	const most = 88
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case at == 0:
		case at+1+len(word) > most:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
