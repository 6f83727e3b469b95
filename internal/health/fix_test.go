// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

var (
	// start is where a command may begin.
	start = regexp.MustCompile(`\b(kubectl|cmctl) `)
	// typed is the begin of a fix that is a command, or looks like one.
	typed = regexp.MustCompile(`^(kubectl|cmctl|helm|kubeadm|etcdctl|sed|curl) `)
	// aside is a command that a text has within its sentence.
	aside = regexp.MustCompile(`\(((?:kubectl|cmctl) [^()]*)\)|, which (helm [^,]*) prints|\bonce (kubectl [^,]*) shows|\bwith (kubectl [^,;]*)`)
	// next separates the steps of a text.
	next = regexp.MustCompile(`; then |,? and then |, then `)
	// blank is what a person has to fill in.
	blank = regexp.MustCompile(`\b(N|NAME|NAMESPACE|MEMBER|POD|CHART|RELEASE|LEASE|FILE|URL|NEW|NODE)\b`)
	// prose is a word of a sentence, which no command has as an argument.
	prose = regexp.MustCompile(`^(and|or|then|to|the|with|without|on|once|until|which|it|prints|again)$|[,.;:)]$`)
)

// commandsOf returns the commands of a fix, as [Finding] describes it. It fails on text that isn't marked as such.
func commandsOf(fix string) ([]string, error) {
	if typed.MatchString(fix) {
		if blank.MatchString(fix) {
			return nil, errors.New("it begins as a command, and lacks a value")
		}
		return []string{fix}, nil
	}
	var all []string
	for _, m := range aside.FindAllStringSubmatch(fix, -1) {
		all = append(all, strings.Join(m[1:], ""))
	}
	for i, step := range next.Split(aside.ReplaceAllString(fix, ""), -1) {
		at := start.FindStringIndex(step)
		if at == nil {
			continue
		}
		text := step[:at[0]]
		marked := i > 0 && text == "" || text == "run " || strings.HasSuffix(text, "as in ") || strings.HasSuffix(text, ": ") || strings.HasPrefix(text, "once ") && strings.HasSuffix(text, ", ")
		if !marked {
			return nil, fmt.Errorf("%q doesn't show where the command begins", text)
		}
		all = append(all, step[at[0]:])
	}
	return all, nil
}

// typable returns why a person can't type a command as it is printed.
func typable(command string) error {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true)).Parse(strings.NewReader(command), "")
	if err != nil {
		return err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Comment:
			err = fmt.Errorf("a comment: %s", n.Text)
		case *syntax.CallExpr:
			err = errors.Join(err, arguable(n.Args))
		}
		return true
	})
	return err
}

// arguable returns why these can't be a command and its arguments.
func arguable(args []*syntax.Word) error {
	if len(args) == 0 || !slices.Contains([]string{"kubectl", "cmctl", "helm", "sed", "date"}, args[0].Lit()) {
		return errors.New("a command of an unknown program")
	}
	for i, word := range args {
		if prose.MatchString(word.Lit()) {
			return fmt.Errorf("%q is no argument", word.Lit())
		}
		if args[max(i-1, 0)].Lit() != "-p" || len(word.Parts) != 1 {
			continue
		}
		if patch, is := word.Parts[0].(*syntax.SglQuoted); !is || !json.Valid([]byte(patch.Value)) {
			return errors.New("a patch that is no JSON")
		}
	}
	return nil
}

// typableFixes are the fixes that are found typable. Many states have the same.
var typableFixes sync.Map

// checkFix fails on a fix that a person can't type, or of which it isn't clear what to type.
func checkFix(t *testing.T, fix string) {
	t.Helper()
	if _, is := typableFixes.Load(fix); is {
		return
	}
	commands, err := commandsOf(fix)
	if err != nil {
		t.Errorf("the fix %q: %v", fix, err)
	}
	for _, command := range commands {
		if err := typable(command); err != nil {
			t.Errorf("the fix %q: %q can't be typed: %v", fix, command, err)
			return
		}
	}
	if err == nil {
		typableFixes.Store(fix, true)
	}
}

// judged runs checks, and fails on a fix that a person can't type. All tests of this package run checks by it.
func judged(t *testing.T, checks []Check, f *Facts) []Result {
	t.Helper()
	results := Run(checks, f)
	for _, r := range results {
		for _, finding := range r.Findings {
			checkFix(t, finding.Fix)
		}
	}
	return results
}

// TestFixesAreTyped: a shell accepts the commands of fixes, and no text is typed with them.
func TestFixesAreTyped(t *testing.T) {
	t.Parallel()
	for fix, good := range map[string]bool{
		"":                         true,
		"enlarge the claims":       true,
		"kubectl get pods -n team": true,
		"cmctl renew a -n team":    true,
		"add nodes, then kubectl etcd restart statefulset/main --member main-2 -n team":                                                     true,
		"once a, b and c are healthy, kubectl etcd defrag statefulset/main -n team":                                                         true,
		"once it is undone (kubectl rollout undo statefulset/main --to-revision=2 -n team), kubectl etcd member replace statefulset/main a": true,
		"set a in the values of Helm release b, which helm get values b -n team prints":                                                     true,
		"save it: kubectl etcd snapshot save statefulset/a FILE -n team":                                                                    true,
		`kubectl annotate statefulset/main kubectl-etcd.dev/size="3 at $(date -u +%FT%TZ)" -n team`:                                         true,
		`kubectl patch statefulset main -p '[{"value":"/livez"}]' -n team  (etcd 3.4.29; restarts the members one by one)`:                  false,
		"kubectl delete statefulset main --cascade=orphan -n team, then create it again with podManagementPolicy: Parallel":                 false,
		"kubectl etcd snapshot save statefulset/a FILE -n team":                                                                             false,
		"kubeadm join --control-plane on a new node":                                                                                        false,
		"use /livez kubectl edit statefulset main -n team":                                                                                  false,
		"enlarge the claims: kubectl edit pvc a -n team, which restarts nothing":                                                            false,
		"run kubectl etcd proxy statefulset/main -- etcdctl member update 1 --peer-urls=URL: set it: kubectl edit statefulset":              false,
		`kubectl patch statefulset main -p '{"a":}' -n team`:                                                                                false,
		"kubectl get pods -n team # all of them":                                                                                            false,
		"kubectl edit statefulset main; rm main.yaml":                                                                                       false,
	} {
		commands, err := commandsOf(fix)
		for _, command := range commands {
			err = errors.Join(err, typable(command))
		}
		if good != (err == nil) {
			t.Errorf("%q: %v, want good %t", fix, err, good)
		}
	}
}

// TestFixesOfGoldens checks the fixes of other packages' tests and of the guides.
func TestFixesOfGoldens(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../cli/*/testdata/*/*.txt", "../cli/*/testdata/*.txt", "../../docs/guides/*.md"} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, matches...)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if fix, is := strings.CutPrefix(strings.TrimSpace(line), "fix: "); is {
				checkFix(t, fix)
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no file has a fix")
	}
}

// TestAllRunByJudged: a test that runs checks by itself would not see that a fix can't be typed.
func TestAllRunByJudged(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(^|[^.\w])Run\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if file != "fix_test.go" && call.Match(text) {
			t.Errorf("%s calls Run: call judged", file)
		}
	}
}
