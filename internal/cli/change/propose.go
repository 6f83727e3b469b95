// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// propose prints a plan, asks for confirmation, and reports whether to continue. It returns
// false if the user answers no or with --dry-run=client. It returns an error if there is no
// terminal and no -y. With --dry-run=server it returns true without a question; the caller
// then only tries the writes.
func propose(ctx context.Context, e *app.App, c *app.Cluster, plan operate.Plan, ch Flags) (bool, error) {
	showPlan(e, c, plan)
	switch {
	case ch.DryRun == DryRunClient:
		e.Notef("Nothing was changed (--dry-run=client).")
		return false, nil
	case ch.DryRun != DryRunServer && ch.yes && plan.Unconfirmed != "":
		return false, app.Refused("%s", plan.Unconfirmed)
	case ch.DryRun == DryRunServer, ch.yes:
		return true, nil
	}
	_, terminal := ui.Terminal(e.In)
	switch {
	case !terminal && plan.Unconfirmed != "": // -y alone would be refused
		return false, app.Refused("there is no terminal to ask for confirmation, and %s", plan.Unconfirmed)
	case !terminal:
		return false, app.Refused(noTerminal + ". Read the plan above, and run the command again with -y")
	}
	yes, err := ask(ctx, e, plan)
	if err == nil && !yes {
		e.Notef("Nothing was changed.")
	}
	return yes, err
}

const noTerminal = "there is no terminal to ask for confirmation"

// May returns an error if a change could not be made, because permissions are missing or because there is neither a
// terminal nor -y. It is for commands that do long work before their plan.
func May(ctx context.Context, a *app.App, c *app.Cluster, f Flags, needs []operate.Need) error {
	if err := MayAsk(a, f); err != nil || f.DryRun == DryRunClient {
		return err
	}
	return Require(ctx, a, c, needs)
}

// MayAsk returns an error if the user can't confirm the change, because there is neither a terminal nor -y.
func MayAsk(a *app.App, f Flags) error {
	if _, terminal := ui.Terminal(a.In); terminal || f.yes || f.DryRun != DryRunNone {
		return nil
	}
	return app.Refused(noTerminal + ". To see the plan, add --dry-run=client. To make the change, add -y")
}

func ask(ctx context.Context, e *app.App, plan operate.Plan) (bool, error) {
	if plan.Typed == "" {
		return e.Ask(ctx, "Continue?")
	}
	answer, err := e.AskFor(ctx, fmt.Sprintf("To continue, type the name of the cluster, %s:", plan.Typed))
	return answer == plan.Typed, err
}

// showPlan prints a plan to stderr, with the context and the cluster. The cluster is nil for an
// operation on none or on many.
func showPlan(e *app.App, c *app.Cluster, plan operate.Plan) {
	_ = e.Line(e.ErrOut, ui.Cell{Text: plan.Title, Color: ui.Bold})
	name, server := e.Where()
	e.Entry("context", fmt.Sprintf("%s (%s)", name, server))
	if c != nil {
		e.Entry("cluster", c.String())
	}
	e.Entry("facts", plan.Facts...)
	var steps []string
	for i, step := range plan.Steps {
		steps = append(steps, fmt.Sprintf("%d. %s", i+1, step))
	}
	e.Entry("steps", steps...)
	for _, warning := range plan.AllWarnings() {
		e.Warn("%s", warning)
	}
}
