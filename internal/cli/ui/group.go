// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"

	"github.com/spf13/cobra"
)

// NewGroupCmd returns a command that only groups other commands, such as "member".
func NewGroupCmd(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return UnknownCommand(cmd, args[0])
	}}
	group.AddCommand(commands...)
	// The group's examples are the first example of each command, or all of an only one.
	var first []string
	for _, c := range commands {
		example, _, _ := strings.Cut(c.Example, "\n\n")
		if len(commands) == 1 {
			example = c.Example
		}
		first = append(first, example)
	}
	group.Example = strings.Join(first, "\n\n")
	return group
}
