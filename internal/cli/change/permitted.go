// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// permitted returns an error if the user lacks permissions of every plan. The error also has those
// that the current plan needs.
func permitted(ctx context.Context, a *app.App, c *app.Cluster, f Flags, op Operation) error {
	if f.DryRun == DryRunClient {
		return nil
	}
	err := permittedAlways(ctx, a, c, op)
	if missing, ok := errors.AsType[*operate.MissingError](err); ok {
		missing.Add(missingInPlan(ctx, a, c, op))
	}
	return err
}

// permittedAlways returns an error if the user lacks permissions that don't depend on the plan.
func permittedAlways(ctx context.Context, a *app.App, c *app.Cluster, op Operation) error {
	needs := op.Needs
	if c != nil && !op.AllowsUnfinished {
		needs = append(ReadsJournal(c), needs...)
	}
	return require(ctx, a, c, needs)
}

// require does what Require does. Without a cluster there is no lock.
func require(ctx context.Context, a *app.App, c *app.Cluster, needs []operate.Need) error {
	if c != nil {
		return Require(ctx, a, c, needs)
	}
	kube, err := a.Client()
	if err != nil {
		return err
	}
	return RequireOnly(ctx, a, kube, needs)
}

// missingInPlan returns the permissions of the current plan that the user lacks. It returns none if
// there is no plan: what is missing already may be why.
func missingInPlan(ctx context.Context, a *app.App, c *app.Cluster, op Operation) []operate.Need {
	plan, err := op.Judge(ctx)
	if err == nil && len(plan.Needs) > 0 {
		err = require(ctx, a, c, plan.Needs)
	}
	if more, ok := errors.AsType[*operate.MissingError](err); ok {
		return more.Needs
	}
	return nil
}
