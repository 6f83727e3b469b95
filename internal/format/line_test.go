// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// hostile are texts that would change what a terminal shows.
var hostile = map[string]string{
	"ESC":                  "\x1b[2Jgone",
	"BEL":                  "gone\x07",
	"CSI of C1":            "\u009b31mgone",
	"OSC":                  "\x1b]8;;http://evil.example\x1b\\gone",
	"carriage return":      "all\rgone",
	"backspace":            "all\b\bgone",
	"right to left":        "\u202eevil",
	"isolate":              "\u2066evil\u2069",
	"zero width":           "ev\u200bil",
	"line separator":       "all\u2028gone",
	"next line of C1":      "all\u0085gone",
	"half a character":     "half\xff",
	"delete":               "all\x7fgone",
	"byte order mark":      "\ufeffall",
	"vertical tab":         "all\vgone",
	"language tag":         "all\U000e0041gone",
	"string terminator":    "all\u009cgone",
	"device control of C1": "\u0090gone",
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		for what, got := range map[string]string{"Printable": format.Printable(text), "PrintableLine": format.PrintableLine(text)} {
			if i := strings.IndexFunc(got, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
				t.Errorf("%s: %s returns %q", name, what, got)
			}
		}
	}
	for text, want := range map[string]string{
		"":                     "",
		"ann@desk (pid 7)":     "ann@desk (pid 7)",
		"größer, 語":            "größer, 語",
		"a\n b\tc\u00a0":       "a\n b c ",
		"\x1b[2Jgone\x07":      "\ufffd[2Jgone\ufffd",
		"\u202eevil half\xff ": "\ufffdevil half\ufffd ",
	} {
		if got := format.Printable(text); got != want || format.Printable(got) != got {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

func TestPrintableLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\nb\t c ":                "a b c",
		"\x1b[2Jgone\x07":          "\ufffd[2Jgone\ufffd",
		strings.Repeat("x", 1<<20): strings.Repeat("x", 1997) + "...",
	} {
		if got := format.PrintableLine(text); got != want {
			t.Errorf("%.40q is printed as %.40q, want %.40q", text, got, want)
		}
	}
}
