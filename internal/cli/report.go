// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// report prints an error and returns its exit code.
func report(ctx context.Context, a *app.App, err error) int {
	code, outcome := app.Outcome(ctx, err)
	if outcome == "" {
		return code
	}
	_ = a.Line(a.ErrOut, ui.Cell{Text: outcome + ":", Color: ui.Red}, ui.Cell{Text: " " + err.Error()})
	return code
}
