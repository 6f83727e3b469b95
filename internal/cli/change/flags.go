// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// dryRun is the value of --dry-run.
type dryRun string

// The modes: make the change, only print the plan, or let the API server try the writes.
const (
	DryRunNone   dryRun = "none"
	DryRunClient dryRun = "client"
	DryRunServer dryRun = "server"
)

// timeLimit is the value of --timeout: a time that is not negative.
type timeLimit time.Duration

// String returns the duration as help texts show it.
func (l *timeLimit) String() string { return time.Duration(*l).String() }

// Set parses a duration. 0 means no limit.
func (l *timeLimit) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("it must not be negative")
	}
	*l = timeLimit(d)
	return err
}

// Type returns the type that help texts show.
func (l *timeLimit) Type() string { return "duration" }

// reasonText is the value of --reason: one line that is safe to print on a terminal.
type reasonText string

// longestReason leaves space in an Event for the user and the operation before the reason.
const longestReason = 500

// String returns the text.
func (r *reasonText) String() string { return string(*r) }

// Set accepts one line of printable text.
func (r *reasonText) Set(text string) error {
	text = strings.TrimSpace(text)
	if n := utf8.RuneCountInString(text); n > longestReason {
		return fmt.Errorf("it has %d characters, the maximum is %d", n, longestReason)
	}
	if at := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }); at >= 0 || !utf8.ValidString(text) {
		return errors.New("it must be one line of printable characters")
	}
	*r = reasonText(text)
	return nil
}

// Type returns the type that help texts show.
func (r *reasonText) Type() string { return "string" }

// Flags are the flags of every command that changes something.
type Flags struct {
	DryRun dryRun
	// yes skips the question. It has no other effect.
	yes  bool
	Wait bool
	// Timeout limits the work after the question. 0 means no limit.
	Timeout time.Duration
	// Reason is the user's reason for the change. The lock and the Event contain it. It may
	// be empty.
	Reason string
}

// OnlyWith returns an error if a flag of changes, or one of others, is set without the flag without which the command
// changes nothing.
func OnlyWith(cmd *cobra.Command, flag string, others ...string) error {
	if cmd.Flags().Changed(flag) && cmd.Flag(flag).Value.String() == "true" {
		return nil
	}
	for _, name := range append(others, "dry-run", "yes", "wait", "timeout", "reason") {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%[1]s only has an effect with --%[2]s: without --%[2]s, nothing is changed", name, flag)
		}
	}
	return nil
}

// AddFlags adds the flags to a command. The value of ch.Timeout is the default of --timeout.
func AddFlags(cmd *cobra.Command, ch *Flags) {
	ui.IgnoreBrokenPipe(cmd)
	ch.DryRun = DryRunNone
	flags := cmd.Flags()
	ui.AddEnum(cmd, flags, &ch.DryRun, "dry-run", "mode", "none, client or server. client only prints the plan. server also checks the permissions and lets the API server try the writes",
		DryRunNone, DryRunClient, DryRunServer)
	flags.BoolVarP(&ch.yes, "yes", "y", false, "Don't ask for confirmation. Required without a terminal")
	flags.BoolVar(&ch.Wait, "wait", true, "Wait until the change is complete")
	flags.Var((*timeLimit)(&ch.Timeout), "timeout", "Time limit of the change after the confirmation. 0 means no limit")
	flags.Var((*reasonText)(&ch.Reason), "reason", "Reason for the change. The Event and the lock of the cluster contain it")
}
