// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"ann@desk (pid 7)":         "ann@desk (pid 7)",
		"größer, 語":                "größer, 語",
		"a\nb\t c ":                "a b c",
		"\x1b[2Jgone\x07":          "?[2Jgone?",
		"\u202eevil":               "?evil",
		"half\xff":                 "half\ufffd",
		strings.Repeat("x", 1<<20): strings.Repeat("x", 1997) + "...",
	} {
		if got := format.Printable(text); got != want {
			t.Errorf("%.40q is printed as %.40q, want %.40q", text, got, want)
		}
	}
}
