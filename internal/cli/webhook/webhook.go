// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package webhook implements kubectl etcd webhook.
package webhook

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command for etcd-webhook, the program in the cluster.
func NewCommand(a *app.App) *cobra.Command {
	return ui.NewGroupCmd("webhook", "Inspect or uninstall etcd-webhook",
		newStatusCommand(a),
		newWebhookUninstallCmd(a),
	)
}
