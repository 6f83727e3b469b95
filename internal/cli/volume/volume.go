// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package volume implements kubectl etcd volume.
package volume

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command volume.
func NewCommand(a *app.App) *cobra.Command {
	return ui.NewGroupCmd("volume", "Make the members' volumes larger", newGrowCmd(a))
}
