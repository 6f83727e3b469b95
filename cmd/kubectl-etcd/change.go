// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// dryRun is the value of --dry-run.
type dryRun string

const (
	dryRunNone   dryRun = "none"
	dryRunClient dryRun = "client"
	dryRunServer dryRun = "server"
)

// String, Set and Type implement pflag.Value.
func (d *dryRun) String() string { return string(*d) }

// Set takes one of the three.
func (d *dryRun) Set(text string) error {
	switch v := dryRun(text); v {
	case dryRunNone, dryRunClient, dryRunServer:
		*d = v
		return nil
	}
	return fmt.Errorf("must be none, client or server")
}

// Type is what help calls the value.
func (d *dryRun) Type() string { return "mode" }

// change is what all commands that change something have in common.
type change struct {
	dryRun dryRun
	// yes skips the question; nothing else depends on it.
	yes  bool
	wait bool
	// timeout is for the whole command, 0 for none.
	timeout time.Duration
	// reason is the user's own, for the lock and the Event; may be empty.
	reason string
}

// addChangeFlags gives a command the flags of change. A timeout that is set
// already is the default of --timeout.
func addChangeFlags(cmd *cobra.Command, ch *change) {
	ch.dryRun = dryRunNone
	flags := cmd.Flags()
	flags.Var(&ch.dryRun, "dry-run", "none, client or server: client prints the plan and stops, server also asks the API server for the permissions and tries the writes that it can")
	flags.BoolVarP(&ch.yes, "yes", "y", false, "Don't ask. Without a terminal it is needed")
	flags.BoolVar(&ch.wait, "wait", true, "Wait until the change is complete")
	flags.DurationVar(&ch.timeout, "timeout", ch.timeout, "How long to go on at most, 0 for no limit")
	flags.StringVar(&ch.reason, "reason", "", "Why, for the Event on the cluster and for others who find it locked")
	modes := cobra.FixedCompletions([]string{"none", "client", "server"}, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("dry-run", modes); err != nil {
		panic(err) // the flag was added above
	}
}
