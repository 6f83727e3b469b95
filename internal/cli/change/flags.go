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

// How far a change goes: to its end, to the plan, or to what the API server can try.
const (
	DryRunNone   dryRun = "none"
	DryRunClient dryRun = "client"
	DryRunServer dryRun = "server"
)

// timeLimit is the value of --timeout: a time that is not negative.
type timeLimit time.Duration

// String, Set and Type implement pflag.Value.
func (l *timeLimit) String() string { return time.Duration(*l).String() }

// Set takes a duration, 0 for none.
func (l *timeLimit) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("can't be less than 0")
	}
	*l = timeLimit(d)
	return err
}

// Type is what help calls the value.
func (l *timeLimit) Type() string { return "duration" }

// reasonText is the value of --reason: a line that others read on their terminals.
type reasonText string

// longestReason leaves room in an Event for who did what, which stands before it.
const longestReason = 500

// String, Set and Type implement pflag.Value.
func (r *reasonText) String() string { return string(*r) }

// Set takes one line of text that can be shown as it is.
func (r *reasonText) Set(text string) error {
	text = strings.TrimSpace(text)
	if n := utf8.RuneCountInString(text); n > longestReason {
		return fmt.Errorf("it has %d characters, and %d at most are kept", n, longestReason)
	}
	if at := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }); at >= 0 || !utf8.ValidString(text) {
		return errors.New("it must be one line of printable characters")
	}
	*r = reasonText(text)
	return nil
}

// Type is what help calls the value.
func (r *reasonText) Type() string { return "string" }

// Flags is what all commands that Flags something have in common.
type Flags struct {
	DryRun dryRun
	// yes skips the question; nothing else depends on it.
	yes  bool
	Wait bool
	// Timeout is for the whole command, 0 for none.
	Timeout time.Duration
	// Reason is the user's own, for the lock and the Event; may be empty.
	Reason string
}

// AddFlags gives a command the flags of change. A timeout that is set
// already is the default of --timeout.
func AddFlags(cmd *cobra.Command, ch *Flags) {
	ui.IgnoreBrokenPipe(cmd)
	ch.DryRun = DryRunNone
	flags := cmd.Flags()
	ui.AddEnum(cmd, flags, &ch.DryRun, "dry-run", "mode", "none, client or server: client prints the plan and stops, server also asks the API server for the permissions and tries the writes that it can",
		DryRunNone, DryRunClient, DryRunServer)
	flags.BoolVarP(&ch.yes, "yes", "y", false, "Don't ask. Without a terminal it is needed")
	flags.BoolVar(&ch.Wait, "wait", true, "Wait until the change is complete")
	flags.Var((*timeLimit)(&ch.Timeout), "timeout", "How long to go on at most, 0 for no limit")
	flags.Var((*reasonText)(&ch.Reason), "reason", "Why, for the Event on the cluster and for others who find it locked")
}
