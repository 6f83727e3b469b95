// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// customize sets the help, usage, errors and completion of all commands.
func customize(a *app.App, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { help(a.Console, cmd, args) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { return usage(cmd.OutOrStderr(), cmd) })
	root.SetFlagErrorFunc(flagError)
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return ui.UnknownCommand(cmd, args[0])
		}
		return nil
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetHelpCommandGroupID(groupOther)
	root.CompletionOptions.DisableDefaultCmd = true
	completions{a}.completeArguments(root)
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

func argumentError(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
}

func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = valueError(invalid)
	}
	if unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var all []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				all = append(all, "--"+f.Name)
			}
		})
		hint = ui.DidYouMean(ui.Nearest("--"+unknown, all))
	}
	return fmt.Errorf("%w%s; see %s --help", err, hint, cmd.CommandPath())
}

// valueError describes the form of a number or a duration. The errors of Go's parsers don't.
func valueError(invalid *pflag.InvalidValueError) error {
	form := ""
	switch invalid.GetFlag().Value.Type() {
	case "int", "int32", "int64":
		form = "a whole number"
	case "bool":
		form = "true or false"
	case "duration":
		form = "a duration, such as 90s or 1h30m"
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
