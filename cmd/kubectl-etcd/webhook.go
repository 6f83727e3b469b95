// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// newWebhookCmd is about etcd-webhook, the program in the cluster.
func newWebhookCmd(e *env) *cobra.Command {
	return newGroupCmd("webhook", "See or remove the etcd-webhook that is installed",
		newWebhookStatusCmd(e),
		newWebhookUninstallCmd(e),
	)
}
