// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// IgnoreBrokenPipe keeps a command that changes something from dying of SIGPIPE half-way, when
// the reader of its output is gone. For example, Ctrl-C also ends tee in "| tee log".
func IgnoreBrokenPipe(cmd *cobra.Command) {
	cmd.PreRun = func(*cobra.Command, []string) {
		// The signal is caught and dropped. If it were ignored, child processes would inherit that.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}
