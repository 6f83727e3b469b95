// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// TestTypedCommands parses each command of a text or a page that names a target or has a flag, as it stands: it
// has all that its command requires, and each flag has a value that is accepted.
func TestTypedCommands(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	root := rootForTest()
	eachText(t, func(path, text string) {
		for _, typed := range typedCommands(root, text) {
			command := strings.Join(typed, " ")
			if seen[command] {
				continue
			}
			seen[command] = true
			if err := acceptTyped(typed); err != nil {
				t.Errorf("%s: kubectl etcd %s: %v", path, command, err)
			}
		}
	})
	if len(seen) < 200 {
		t.Errorf("only %d commands were found", len(seen))
	}
}

// TestTypedCommandsFound holds what the search finds, and refuses.
func TestTypedCommandsFound(t *testing.T) {
	t.Parallel()
	root := rootForTest()
	for text, want := range map[string]string{
		"kubectl etcd scale removes a member":                                    "",
		"see kubectl etcd status NAME, and wait":                                 "accepted",
		"kubectl etcd snapshot schedule NAME.":                                   "refused",
		"kubectl etcd snapshot schedule NAME --to URL.":                          "accepted",
		"kubectl etcd sweep --remove --delete-claims deletes the claim":          "refused",
		"kubectl etcd sweep NAME --remove --delete-claims CLAIM deletes it":      "accepted",
		"kubectl etcd check NAME --only P999":                                    "refused",
		"kubectl etcd restart %s -n %s --strategy coordinated ":                  "accepted",
		"kubectl etcd restart NAME --strategy quick":                             "refused",
		"`kubectl etcd scale NAME --replicas N`":                                 "accepted",
		"kubectl etcd scale %s --replicas ":                                      "", // goes on in another text
		"kubectl etcd cut-client-traffic etcd-main --for 15m --reason \"drill\"": "accepted",
	} {
		got := ""
		for _, typed := range typedCommands(root, text) {
			got = "accepted"
			if acceptTyped(typed) != nil {
				got = "refused"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// eachText calls f with each text of the programs, each page, and each annotation of the alerts.
func eachText(t *testing.T, f func(path, text string)) {
	t.Helper()
	walk := func(suffix string, texts func(path string) []string, roots ...string) {
		for _, root := range roots {
			err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) || strings.HasSuffix(path, "_test.go") {
					return err
				}
				for _, text := range texts(path) {
					f(path, text)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	walk(".go", func(path string) []string { return sentences(parsed(t, path)) }, "../../policy", "../../internal", "../../webhook", "../../controller")
	walk(".md", func(path string) []string {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return []string{strings.ReplaceAll(string(page), "\\\n", " ")}
	}, "../../docs", "../../README.md")
	walk("rules.yaml", func(path string) []string { return alertTexts(t, path) }, "../../manifests/monitoring")
}

// templateAction is an action of a template of Prometheus, such as {{ $labels.cluster }}.
var templateAction = regexp.MustCompile(`{{.*?}}`)

// alertTexts returns the annotations of the alerts of a file, with %s for what Prometheus fills in.
func alertTexts(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Annotations map[string]string }
		}
	}
	if err := yaml.Unmarshal(file, &rules); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			for _, text := range r.Annotations {
				out = append(out, templateAction.ReplaceAllString(text, "%s"))
			}
		}
	}
	if len(out) == 0 {
		t.Errorf("%s has no annotations", path)
	}
	return out
}

// argument is a word behind a command that is not prose: a flag, a placeholder, a value that is filled in or that no
// sentence has.
var argument = regexp.MustCompile(`^(-.*|[A-Z_,]+|[^a-z]*%.*|.*[/%=:0-9-].*|["'].*)$`)

// typedCommands returns the arguments of each command of a text that has arguments. One that goes on in another text is
// not among them.
func typedCommands(root *cobra.Command, text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		for i, part := range strings.Split(line, "kubectl etcd ") {
			if i == 0 {
				continue
			}
			if typed := typedCommand(root, part); len(typed) > 0 {
				out = append(out, typed)
			}
		}
	}
	return out
}

// typedCommand returns the arguments of the command with which a text begins, nothing for prose.
func typedCommand(root *cobra.Command, text string) []string {
	cmd, fields := root, strings.Fields(text)
	var typed []string
	for len(fields) > 0 {
		next, _, err := cmd.Find(fields[:1])
		if err != nil || next == cmd {
			break // also at a name before a punctuation mark
		}
		cmd, typed, fields = next, append(typed, fields[0]), fields[1:]
	}
	arguments, prose := argumentsOf(cmd, fields)
	if len(typed) == 0 || cmd.HasSubCommands() || len(arguments) == 0 || prose {
		return nil
	}
	return append(typed, arguments...)
}

// argumentsOf returns the arguments and flags of a command with which fields begin. prose is true without an argument,
// which is prose about a flag, and where the value of a flag is missing: that command goes on in another text.
func argumentsOf(cmd *cobra.Command, all []string) (typed []string, prose bool) {
	arguments, value := 0, false
	for _, word := range all {
		bare := strings.TrimRight(word, ".,;:)`|")
		if bare == "" || !value && !argument.MatchString(bare) || strings.ContainsAny(bare, "[(`<>") {
			break
		}
		typed = append(typed, bare)
		if !value && bare[0] != '-' {
			arguments++
		}
		value = !value && takesValue(cmd, bare)
		if bare != word {
			break
		}
	}
	return typed, value || arguments == 0 && cmd.Name() != "sweep"
}

// takesValue reports whether the next word is the value of a flag.
func takesValue(cmd *cobra.Command, word string) bool {
	name, long := strings.CutPrefix(word, "--")
	f := cmd.Flag(name)
	if !long && len(word) == 2 && word[0] == '-' {
		if f = cmd.Flags().ShorthandLookup(word[1:]); f == nil {
			f = cmd.InheritedFlags().ShorthandLookup(word[1:])
		}
	}
	return f != nil && f.NoOptDefVal == ""
}

// typedValues are values of the placeholders whose flags don't accept every text.
var typedValues = map[string]string{"--replicas": "3", "--for": "15m", "--size": "20Gi"}

// freeTexts are the flags whose value may be any word.
var freeTexts = []string{"--reason", "--lost", "--tool", "--etcd", "--member", "--to", "--namespace", "-n", "-l", "-o"}

// acceptTyped returns why a command is refused that is typed with values for its placeholders.
func acceptTyped(typed []string) error {
	args := slices.Clone(typed)
	cmd := rootForTest()
	for i, word := range args[1:] {
		if value := typedValues[args[i]]; value != "" && (strings.ToUpper(word) == word || strings.Contains(word, "%")) {
			args[i+1] = value
		}
	}
	found, rest, err := cmd.Find(exampleArgs(strings.Join(args, " ")))
	if err == nil {
		err = found.ParseFlags(rest)
	}
	for _, check := range []func() error{
		func() error { return found.ValidateArgs(found.Flags().Args()) }, found.ValidateRequiredFlags, found.ValidateFlagGroups,
		func() error { return acceptChecks(found) }, func() error { return noProse(found, rest) },
	} {
		if err == nil {
			err = check()
		}
	}
	return err
}

// acceptChecks returns an error if --only names no checks.
func acceptChecks(cmd *cobra.Command) error {
	if cmd.Name() != "check" {
		return nil
	}
	only, err := cmd.Flags().GetStringSlice("only")
	if err == nil {
		_, err = health.Selection{Only: slices.DeleteFunc(only, func(name string) bool { return strings.Contains(name, "%") })}.Checks()
	}
	return err
}

// noProse returns an error if a flag has the next word of its sentence as its value.
func noProse(cmd *cobra.Command, args []string) error {
	for i, word := range args[:max(len(args)-1, 0)] {
		f := cmd.Flag(strings.TrimPrefix(word, "--"))
		if f != nil && f.Value.Type() == "stringSlice" && word != "--only" && !slices.Contains(freeTexts, word) && regexp.MustCompile(`^[a-z]+$`).MatchString(args[i+1]) {
			return &proseError{word, args[i+1]}
		}
	}
	return nil
}

type proseError struct{ flag, word string }

func (e *proseError) Error() string {
	return e.flag + " has no value but the next word of the sentence, " + e.word
}

// kubectlCommand is a command of kubectl that changes or shows something, with its first argument.
var kubectlCommand = regexp.MustCompile(`(?:^|[ (;"])(kubectl (?:annotate|apply|autoscale|cordon|cp|create|debug|delete|describe|drain|edit|exec|expose|get|label|logs|patch|replace|rollout|run|scale|set|taint|top|uncordon|wait) ([^\s;,.)]+))`)

// TestTypedKubectl: each command of kubectl that a message has gets the flags of the context, so that it acts on the
// same cluster.
func TestTypedKubectl(t *testing.T) {
	t.Parallel()
	// What follows shows that these texts are about kubectl.
	prose := []string{"evicts", "retries", "would", "of", "the", "can", "on", "leaves", "then", "why"}
	given := ui.Given{Context: " --context desk"}
	n := 0
	eachText(t, func(path, text string) {
		if strings.HasSuffix(path, ".md") {
			return
		}
		for _, m := range kubectlCommand.FindAllStringSubmatch(text, -1) {
			n++
			if !slices.Contains(prose, m[2]) && !strings.Contains(given.Complete(m[1]), "--context desk") {
				t.Errorf("%s: %q loses the flags of the context", path, m[1])
			}
		}
	})
	if n < 100 {
		t.Errorf("only %d commands were found", n)
	}
}
