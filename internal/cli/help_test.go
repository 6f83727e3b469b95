// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

func rootForTest() *cobra.Command {
	return newRootCmd(app.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}))
}

// TestHelp checks that every command has a description, examples and a group.
func TestHelp(t *testing.T) {
	t.Parallel()
	everyCommand(rootForTest(), func(c *cobra.Command) {
		if c.Name() == "help" {
			return
		}
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: want a description of one line without a period, got %q", path, c.Short)
		}
		lines := exampleLines(c)
		if len(lines) < 2 {
			t.Errorf("%s: want at least two examples, got %d", path, len(lines))
		}
		if c.HasParent() && c.Parent() == c.Root() && c.GroupID == "" {
			t.Errorf("%s is in no group", path)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: flag --%s has no description", path, f.Name)
			}
		})
	})
}

// TestExamplesAreValid parses every line that help shows.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	everyCommand(rootForTest(), func(c *cobra.Command) {
		for _, line := range exampleLines(c) {
			args := exampleArgs(line)
			// Flags keep their values, so each line needs its own root command.
			found, rest, err := rootForTest().Find(args)
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err == nil {
				err = found.ValidateFlagGroups()
			}
			if err != nil {
				t.Errorf("%s: example %q: %v", c.CommandPath(), line, err)
			}
		}
	})
}

// exampleLines returns the command lines of the examples, with continuation lines joined.
func exampleLines(c *cobra.Command) []string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
		if _, after, ok := strings.Cut(line, "kubectl etcd"); ok && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines = append(lines, strings.TrimSpace(after))
		}
	}
	return lines
}

// exampleArgs splits a line as a shell does, up to a pipe, a redirection or the like.
func exampleArgs(line string) []string {
	var args []string
	var arg strings.Builder
	quote, begun := rune(0), false
	end := func() {
		if begun {
			args = append(args, arg.String())
		}
		arg.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			arg.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ':
			end()
		case strings.ContainsRune("|<>&;#)", r) && !begun:
			return args
		case r == ')':
			end()
			return args
		default:
			arg.WriteRune(r)
			begun = true
		}
	}
	end()
	return args
}
