// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// TestChangesIgnoreBrokenPipe goes through all commands that have the flags of a change.
func TestChangesIgnoreBrokenPipe(t *testing.T) {
	t.Parallel()
	n := 0
	everyCommand(newRootCmd(app.New(genericiooptions.IOStreams{})), func(c *cobra.Command) {
		if c.Flags().Lookup("dry-run") == nil {
			return
		}
		n++
		if c.PreRun == nil {
			t.Errorf("%s dies when nobody reads what it prints", c.CommandPath())
		}
	})
	if n < 10 {
		t.Errorf("only %d commands change something", n)
	}
}
