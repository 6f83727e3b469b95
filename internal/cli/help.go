// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// newOptionsCmd returns the command that lists the global flags. The help of other commands
// omits them.
func newOptionsCmd(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that are common to all commands",
		Example: ui.Examples(`
			# List kubectl's own flags, and those for certificates and users of etcd
			kubectl etcd options

			# List the flags for certificates
			kubectl etcd options | grep -i cert`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(a.Out, "The following flags can be used with every command:\n\n", cmd.InheritedFlags().FlagUsagesWrapped(ui.Columns(a.Out)))
			return err
		},
	}
}

// help prints the help of a command. Cobra's own templates would repeat the thirty global
// flags in the help of every command.
func help(c *ui.Console, cmd *cobra.Command, _ []string) {
	w := c.Out
	fmt.Fprint(w, ui.Reflow(cmp.Or(cmd.Long, cmd.Short), ui.Columns(w)), "\n\n")
	_ = usage(w, cmd) // the reader of a closed pipe needs no help
}

func usage(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", use)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		listCommands(&b, cmd)
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() && cmd.HasParent() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags.FlagUsagesWrapped(ui.Columns(w)))
	}
	root := cmd.Root().CommandPath()
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s COMMAND --help\" for more information about a command.", cmd.CommandPath())
	}
	fmt.Fprintf(&b, "\nUse \"%s options\" for the flags that every command has, such as -n and --context.\n", root)
	_, err := io.WriteString(w, b.String())
	return err
}

func listCommands(b *strings.Builder, cmd *cobra.Command) {
	longest := 0
	for _, c := range cmd.Commands() {
		longest = max(longest, len(c.Name()))
	}
	list := func(title, group string) {
		first := true
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() && c.Name() != "help" || c.GroupID != group {
				continue
			}
			if first {
				fmt.Fprintf(b, "\n%s\n", title)
				first = false
			}
			fmt.Fprintf(b, "  %-*s  %s\n", longest, c.Name(), c.Short)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands:", "")
}
