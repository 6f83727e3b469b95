// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// banned are the words that pages and code must not use, with their plain replacements.
// They are patterns of whole words, in any case. The list has no word that is also the
// standard term for something else, such as place or look.
var banned = []struct{ pattern, instead string }{
	{`somebody|nobody|whoever`, "a user, another client, no one"},
	{`anew`, "again"},
	{`of its own accord`, "automatically"},
	{`tells?|telling|told|untells?`, "report, show, distinguish, configure"},
	{`says?|saying|said`, "report, log, show, contain"},
	{`heed(s|ed|ing)?`, "respect, check"},
	{`hears?|hearing|heard`, "receive, learn"},
	{`sights?`, "view"},
	{`look(s|ed|ing)? at`, "check, inspect"},
	{`words`, "message, text, format"},
	{`census`, "count, list"},
	{`rovers?`, "the standard term"},
	{`crowded`, "shared"},
	{`heirs?`, "successor"},
	{`quarrels?|rivals?`, "conflict"},
	{`strangers?`, "other, unknown"},
	{`seats?|seated`, "node, ordinal"},
	{`let(s|ting)? go`, "release, allow the eviction"},
	{`(gives?|giving|gave|given) back`, "restore"},
	{`(a|the|this|that|each|every|its) rolls?`, "rollout"},
	{`canvas|doors|hunts?`, "the standard term"},
	{`patience`, "timeout"},
}

// later are pages that still use such words: others generate or own them.
var later = []string{}

// cleanFolders are the folders, with all below them, whose Go files are checked too.
var cleanFolders = []string{
	"api",
	"internal/apitest",
	"internal/etcd",
	"internal/observe",
	"internal/etcdconf",
	"internal/operate/journal",
	"internal/operate/lock",
	"internal/operate/maintenance",
	"internal/operate/membership",
	"internal/snapshot",
	"cmd/etcd-webhook",
	"controller",
	"internal/apiserver",
	"internal/certificate",
	"internal/certtest",
	"internal/cli/app",
	"internal/cli/alarm",
	"internal/cli/change",
	"internal/cli/check",
	"internal/cli/completion",
	"internal/cli/defrag",
	"internal/cli/diagnose",
	"internal/cli/explain",
	"internal/cli/list",
	"internal/cli/member",
	"internal/cli/moveleader",
	"internal/cli/proxy",
	"internal/cli/snapshot",
	"internal/cli/traffic",
	"internal/cli/scale",
	"internal/cli/status",
	"internal/cli/ui",
	"internal/cli/version",
	"internal/cli/webhook",
	"internal/flavour",
	"internal/health",
	"internal/install",
	"internal/kubeclient",
	"internal/pdb",
	"internal/reasons",
	"internal/operate/traffic",
	"internal/operate/step",
	"internal/operate/restore",
	"internal/operate/backup",
	"internal/scrape",
	"internal/scripttest",
	"internal/version",
	"krew",
	"manifests",
	"policy",
	"test/clusters",
	"test/cmd",
	"test/drains",
	"test/e2e",
	"test/guides",
	"test/images",
	"test/install",
	"test/programs",
	"test/release",
	"test/snapshot",
	"test/story",
	"test/testbed",
	"webhook",
}

// names are identifiers that stay, because users depend on them or a folder that isn't clean
// declares them.
var names = regexp.MustCompile(`\b(StrangerMember|NotLookedAtYet|ByNobody)\b`)

// TestWordsOfPages searches the prose of every page for banned words.
func TestWordsOfPages(t *testing.T) {
	t.Parallel()
	for name, text := range files(t, ".md") {
		if slices.Contains(later, name) {
			continue
		}
		for _, f := range find(prose(text)) {
			t.Errorf("%s:%d: %q is banned: use another word (%s)", name, f.line, f.word, f.instead)
		}
	}
}

// TestWordsOfCode searches the identifiers, comments and strings of clean folders.
func TestWordsOfCode(t *testing.T) {
	t.Parallel()
	for name, text := range files(t, ".go") {
		if name == "docs/words_test.go" || !slices.ContainsFunc(cleanFolders, func(f string) bool { return strings.HasPrefix(name, f+"/") }) {
			continue
		}
		for _, f := range find(code(text)) {
			t.Errorf("%s:%d: %q is banned: use another word (%s)", name, f.line, f.word, f.instead)
		}
	}
}

// TestFind shows which texts are found.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want int
	}{
		{prose("Nobody tells us, it does so of its\nown accord."), 3},
		{prose("It needs a password, an essay, a look, and a rollback."), 0},
		{prose("Run it:\n\n    echo nobody\n\n```console\n$ echo nobody\n```\nSee `nobody` in [this](nobody.md).\n"), 0},
		{code("package p\n\nvar heardOf, untold = `said`, 1 // whoever"), 3},
		{code("package p\n\nvar letGo = StrangerMember + strangerSeats"), 3},
		{code("package p\n\n// It does so of its\n// own accord."), 1},
		{code("package p\n\nvar loosen = \"a message\" // A comment."), 0},
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
	for _, b := range banned {
		pattern := regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(b.pattern, " ", `\s+`) + `)\b`)
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			all = append(all, finding{1 + strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], b.instead})
		}
	}
	return all
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
		text = inName.ReplaceAllString(names.ReplaceAllString(text, ""), "$1 $2")
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
