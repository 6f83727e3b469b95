// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestChangesIgnoreBrokenPipe checks every command that has the flags of a change.
func TestChangesIgnoreBrokenPipe(t *testing.T) {
	t.Parallel()
	n := 0
	everyCommand(rootForTest(), func(c *cobra.Command) {
		if c.Flags().Lookup("dry-run") == nil {
			return
		}
		n++
		if c.PreRun == nil {
			t.Errorf("%s ends when the reader of its output is gone", c.CommandPath())
		}
	})
	if n < 10 {
		t.Errorf("only %d commands change something", n)
	}
}
