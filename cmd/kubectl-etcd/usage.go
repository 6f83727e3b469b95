// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// addGlobalFlags gives every command kubectl's flags and those that all of ours share.
func addGlobalFlags(e *env, root *cobra.Command) {
	flags := root.PersistentFlags()
	e.flags.AddFlags(flags)
	e.credentials.addFlags(flags)
	flags.Var(&e.color, "color", "Colour the output: auto, always or never. NO_COLOR and CLICOLOR_FORCE are honoured")
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	verbosity := pflag.PFlagFromGoFlag(logging.Lookup("v"))
	verbosity.Shorthand = "v"
	verbosity.Usage = "Number for the log level verbosity: 6 shows requests, 8 their contents"
	flags.AddFlag(verbosity)
}

// newGroupCmd is a command that only has commands below it: "member".
func newGroupCmd(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}}
	group.AddCommand(commands...)
	// Each command's first example shows what the group is for.
	var first []string
	for _, c := range commands {
		example, _, _ := strings.Cut(c.Example, "\n\n")
		first = append(first, example)
	}
	group.Example = strings.Join(first, "\n\n")
	return group
}

// finish gives all commands what they have in common.
func finish(e *env, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { e.help(cmd, args) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { return e.usage(cmd.OutOrStderr(), cmd) })
	root.SetFlagErrorFunc(flagError)
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return nil
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetHelpCommandGroupID(groupPlumbing)
	root.CompletionOptions.DisableDefaultCmd = true
	completions{e}.completeArguments(root)
	everyCommand(root, func(c *cobra.Command) {
		c.DisableFlagsInUseLine = true
		if c.HasAvailableSubCommands() {
			return
		}
		if args := c.Args; args != nil {
			c.Args = func(cmd *cobra.Command, given []string) error { return argumentError(cmd, args(cmd, given)) }
		}
	})
}

func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		everyCommand(below, do)
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	names := cmd.SuggestionsFor(name)
	var all []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c.Name())
		}
	}
	if len(names) == 0 {
		names = nearest(name, all)
	}
	return fmt.Errorf("unknown command %q for %q%s; see %s --help", name, cmd.CommandPath(), didYouMean(names), cmd.CommandPath())
}

func argumentError(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
}

func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = plainly(invalid)
	}
	if unknown, ok := errorsAsNotExist(err); ok {
		var all []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				all = append(all, "--"+f.Name)
			}
		})
		hint = didYouMean(nearest("--"+unknown, all))
	}
	return fmt.Errorf("%w%s; see %s --help", err, hint, cmd.CommandPath())
}

// plainly says of a number or a duration that is none what would be one, instead of
// what Go's parsers say.
func plainly(invalid *pflag.InvalidValueError) error {
	form := ""
	switch invalid.GetFlag().Value.Type() {
	case "int", "int32", "int64":
		form = "a whole number"
	case "bool":
		form = "true or false"
	case "duration":
		form = "a duration, as 90s or 1h30m"
	}
	cause := invalid.Unwrap()
	_, number := errors.AsType[*strconv.NumError](cause)
	switch {
	case form == "" || !number && !strings.HasPrefix(cause.Error(), "time: "):
		return invalid
	case errors.Is(cause, strconv.ErrRange):
		return fmt.Errorf("--%s %s: the number is too large", invalid.GetFlag().Name, invalid.GetValue())
	}
	return fmt.Errorf("--%s %q: it must be %s", invalid.GetFlag().Name, invalid.GetValue(), form)
}

func errorsAsNotExist(err error) (name string, ok bool) {
	name, ok = strings.CutPrefix(err.Error(), "unknown flag: --")
	return name, ok
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(names, " or ") + "?"
}

// nearest are those at most three of the words that look most like the given one.
func nearest(word string, words []string) []string {
	word = strings.ToLower(word)
	limit := 1
	if len(word) > 3 {
		limit = max(2, len(word)/3) // two letters exchanged are two changes
	}
	type scored struct {
		word     string
		distance int
	}
	var near []scored
	for _, w := range words {
		d := distance(word, strings.ToLower(w))
		if strings.HasPrefix(strings.ToLower(w), word) {
			d = 0
		}
		if d <= limit {
			near = append(near, scored{w, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, s := range near[:min(len(near), 3)] {
		out = append(out, s.word)
	}
	return out
}

// distance is how many letters have to be changed, added or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// paragraphs takes the indentation of the source off a text; examples indents it
// as help shows examples.
func paragraphs(text string) string { return indented(text, "") }

func examples(text string) string { return indented(text, "  ") }

func indented(text, by string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		if line = strings.TrimLeft(line, "\t"); line != "" {
			line = by + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
