// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package alarm implements kubectl etcd alarm.
package alarm

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command alarm.
func NewCommand(e *app.App) *cobra.Command {
	return ui.NewGroupCmd("alarm", "List and disarm etcd's alarms", newAlarmListCmd(e), newAlarmDisarmCmd(e))
}
