// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// IgnoreBrokenPipe lets a command come to its end when nobody reads what it prints: Ctrl-C
// takes "| tee log" along, and the next line to it would kill the command by SIGPIPE
// before what it has changed is whole or taken back.
func IgnoreBrokenPipe(cmd *cobra.Command) {
	cmd.PreRun = func(*cobra.Command, []string) {
		// Caught by nobody rather than ignored, which programs that it runs would inherit.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}
