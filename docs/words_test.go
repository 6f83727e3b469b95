// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/scanner"
	"go/token"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// banned are the words that pages and code must not use, with their plain replacements.
// They are patterns of whole words, in any case.
var banned = []struct{ pattern, instead string }{
	{`somebody|nobody|whoever`, "a user, another client, no one"},
	{`anew`, "again"},
	{`of its own accord`, "automatically"},
	{`tells?|telling|told|untells?`, "report, show, distinguish, configure"},
	{`says?|saying|said`, "report, log, show, contain"},
	{`heed(s|ed|ing)?`, "respect, check"},
	{`hears?|hearing|heard`, "receive, learn"},
	{`sights?`, "view"},
	{`looks?|looked|looking`, "read, check, inspect, seem"},
	{`words`, "message, text, format"},
	{`census`, "count, list"},
	{`rovers?`, "the standard term"},
	{`crowd(s|ed|ing)?`, "shared, many"},
	{`heirs?`, "successor"},
	{`quarrels?|rivals?`, "conflict"},
	{`strangers?`, "other, unknown"},
	{`seats?|seated`, "node, ordinal"},
	{`places?`, "node, zone, ordinal, position, folder"},
	{`sites?`, "state"},
	{`let(s|ting)? go`, "release, allow the eviction"},
	{`(gives?|giving|gave|given) back`, "restore"},
	{`(a|the|this|that|each|every|its) rolls?`, "rollout"},
	{`canvas|doors?|hunts?`, "the standard term"},
	{`forgets?|forgetting|forgot|forgotten`, "remove, delete"},
	{`turn(s|ed|ing)?`, "convert, become, enable, order"},
	{`offer(s|ed|ing)?`, "provide, propose"},
	{`patience`, "timeout"},
	{`of (now|before|then)`, "current, previous, earlier"},
}

// standard are phrases and names in which such a word is the usual one.
var standard = regexp.MustCompile(`(?i:\bin\s+((its|their)\s+)?place\b|\bin\s+turn\b|\blook(s|ed|ing)?\s+(up|for|like)\b)` +
	`|\bLookPath\b|\bForget\b` + // of os/exec, and of client-go's work queues
	`|"Place"`) // a field of the journal's format

// exceptions are the Go files that may use such words, each with the reason.
var exceptions = map[string]string{
	"docs/words_test.go":      "it lists the words",
	"docs/file_names_test.go": "it tests them",
}

// TestWordsOfPages searches the prose of every page for banned words.
func TestWordsOfPages(t *testing.T) {
	t.Parallel()
	for name, text := range files(t, ".md") {
		for _, f := range find(prose(text)) {
			t.Errorf("%s:%d: %q is banned: use another word (%s)", name, f.line, f.word, f.instead)
		}
	}
}

// TestWordsOfCode searches the identifiers, comments and strings of every Go file.
func TestWordsOfCode(t *testing.T) {
	t.Parallel()
	all := files(t, ".go")
	for name, reason := range exceptions {
		if _, exists := all[name]; !exists {
			t.Errorf("%s is an exception (%s) and does not exist: remove it from the list", name, reason)
		}
	}
	for name, text := range all {
		if exceptions[name] != "" {
			continue
		}
		for _, f := range find(code(text)) {
			t.Errorf("%s:%d: %q is banned: use another word (%s)", name, f.line, f.word, f.instead)
		}
	}
}

// TestWordsOfComments searches the comments of manifests, configuration and scripts. Their
// values are checked where they are generated or printed.
func TestWordsOfComments(t *testing.T) {
	t.Parallel()
	found := 0
	for _, extension := range []string{".yaml", ".yml", ".toml", ".sh"} {
		all := files(t, extension)
		maps.Copy(all, fixtures(t, extension))
		for name, text := range all {
			found++
			for _, f := range find(comments(text)) {
				t.Errorf("%s:%d: %q is banned: use another word (%s)", name, f.line, f.word, f.instead)
			}
		}
	}
	if found < 200 {
		t.Errorf("found only %d files", found)
	}
}

// hash matches a comment up to the end of its line.
var hash = regexp.MustCompile(`(?m)(?:^|\s)#.*$`)

// comments returns the comments of a file in which # begins them, line by line.
func comments(file string) string {
	var b strings.Builder
	for line := range strings.Lines(file) {
		b.WriteString(strings.TrimPrefix(strings.TrimSpace(hash.FindString(strings.TrimRight(line, "\n"))), "#"))
		b.WriteByte('\n')
	}
	return b.String()
}

// TestFind shows which texts are found.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want int
	}{
		{prose("Nobody tells us, it does so of its\nown accord."), 3},
		{prose("It needs a password, an essay, and a rollback."), 0},
		{prose("Run it:\n\n    echo nobody\n\n```console\n$ echo nobody\n```\nSee `nobody` in [this](nobody.md).\n"), 0},
		{code("package p\n\nvar heardOf, untold = `said`, 1 // whoever"), 3},
		{prose("It is replaced in place, or in its\nplace. It looks up names, each in turn."), 0},
		{prose("Look at the place where it turns."), 3},
		{code("package p\n\nvar letGo = queue.Forget + strangerSeats"), 3},
		{code("package p\n\nvar forgetPlace = exec.LookPath"), 2},
		{prose("Don't forget the place."), 2},
		{code("package p\n\nvar forget = `json:\"Place\"` + \"place\""), 2},
		{code("package p\n\n// It does so of its\n// own accord."), 1},
		{code("package p\n\nvar loosen = \"a message\" // A comment."), 0},
		{prose("The pod of now has the value of\nbefore, which none of them then had."), 2},
		{comments("# It does so of its\n# own accord.\nsays: 'told' # nobody\nkey: a#said\n"), 2},
	} {
		if found := find(row.text); len(found) != row.want {
			t.Errorf("%q: found %v, want %d", row.text, found, row.want)
		}
	}
}

// finding is one use of a banned word.
type finding struct {
	line          int
	word, instead string
}

func find(text string) []finding {
	var all []finding
	text = withoutStandard(text)
	for i, pattern := range patterns() {
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			all = append(all, finding{1 + strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], banned[i].instead})
		}
	}
	return all
}

// patterns returns the patterns of the banned words, in their order.
var patterns = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, b := range banned {
		all = append(all, regexp.MustCompile(`(?i)\b(?:`+strings.ReplaceAll(b.pattern, " ", `\s+`)+`)\b`))
	}
	return all
})

// withoutStandard removes the standard phrases from a text and keeps its lines.
func withoutStandard(text string) string {
	return standard.ReplaceAllStringFunc(text, func(phrase string) string { return strings.Repeat("\n", strings.Count(phrase, "\n")) })
}

// prose returns a page without code, quoted output and link targets, line by line.
func prose(page string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if !fenced && !fence && !strings.HasPrefix(line, "    ") {
			line = inCode.ReplaceAllString(target.ReplaceAllString(line, "]"), "")
			b.WriteString(strings.TrimRight(line, "\n"))
		}
		fenced = fenced != fence
		b.WriteByte('\n')
	}
	return b.String()
}

// inName matches the boundaries of words in an identifier.
var inName = regexp.MustCompile(`([a-z0-9])([A-Z])|_`)

// code returns the identifiers of a Go file, word by word, with its comments and strings,
// line by line.
func code(file string) string {
	var (
		b     strings.Builder
		s     scanner.Scanner
		files = token.NewFileSet()
		line  = 1
	)
	s.Init(files.AddFile("", files.Base(), len(file)), []byte(file), nil, scanner.ScanComments)
	for pos, kind, text := s.Scan(); kind != token.EOF; pos, kind, text = s.Scan() {
		if kind != token.IDENT && kind != token.COMMENT && kind != token.STRING {
			continue
		}
		for at := files.Position(pos).Line; line < at; line++ {
			b.WriteByte('\n')
		}
		text = inName.ReplaceAllString(withoutStandard(text), "$1 $2")
		line += strings.Count(text, "\n")
		if kind == token.COMMENT { // its sentences may continue in the next one
			text = strings.TrimPrefix(text, "//")
		} else {
			text += " ;"
		}
		b.WriteString(text + " ")
	}
	return b.String()
}
