// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package check implements kubectl etcd check.
package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// options are the flags of check.
type options struct {
	selection health.Selection
	scope     app.Scope
	hashLarge bool
	problems  bool
}

// NewCommand returns the command kubectl etcd check.
func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "check [TARGET]",
		Short: "Check clusters for problems and show how to repair them",
		Long: ui.Paragraphs(`
			Check clusters for current and future problems. The checks cover quorum, members, data,
			versions and clocks, certificates, placement, disruption budgets, probes, backups, the
			operator, and client traffic. Each check has an ID that never changes. The command changes
			nothing.

			A failure is damage, or a problem that becomes damage without any further event. A warning
			is a problem that becomes damage with one more event. Unknown means that the check was not
			possible, for example because of a missing permission.

			Without TARGET, the command checks all clusters of the namespace.

			Exit codes: 0 no check failed; 3 a check failed, or it is unknown whether there is a quorum, or
			every selected check is unknown; 1 error.`),
		Example: ui.Examples(`
			# Check one cluster
			kubectl etcd check etcd-main -n team-a

			# Check all clusters and print only problems
			kubectl etcd check -A --problems

			# Run two categories of checks and one more check
			kubectl etcd check etcd-main --only quorum,backups,C002

			# Print the IDs of failed checks
			kubectl etcd check etcd-main -o json | jq -r '.checks[] | select(.result=="Failure").id'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, cmd, strings.Join(args, ""), o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.selection.Only, "only", nil, "Run only these checks. Values are IDs or categories, separated by commas")
	flags.StringSliceVar(&o.selection.Skip, "skip", nil, "Skip these checks. Values are IDs or categories, separated by commas")
	o.scope.AddFlags(cmd, "Check clusters")
	flags.BoolVar(&o.hashLarge, "hash-large", false, fmt.Sprintf("Compare the members' data even if a database is larger than %d GiB. The members then read all of it", maintenance.HashLimit>>30))
	flags.BoolVar(&o.problems, "problems", false, "Print only checks that aren't OK")
	ui.AddOutputFlags(cmd)
	return cmd
}

func run(ctx context.Context, a *app.App, cmd *cobra.Command, target string, o options) error {
	if err := o.scope.RejectTarget(target); err != nil {
		return err
	}
	checks, err := o.selection.Checks()
	if err != nil {
		return err
	}
	owners, unread, err := targets(ctx, a, target, o)
	if err != nil {
		return err
	}
	source, err := a.Source()
	if err != nil {
		return err
	}
	source.HashLarge = o.hashLarge
	line := a.NewStatusLine()
	source.Progress = line.Show
	reports := make([]v1alpha1.CheckReport, len(owners))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for i, owner := range owners {
		group.Go(func() error {
			f := source.Facts(ctx, owner, checks)
			reports[i] = view.CheckReport(f, health.Run(checks, f))
			return context.Cause(ctx)
		})
	}
	err = group.Wait()
	line.End()
	if err != nil {
		return err
	}
	var document runtime.Object = &v1alpha1.CheckReportList{Items: reports}
	if target != "" {
		document = &reports[0]
	}
	if err := a.Print(cmd, document, render.Check(a.Console, reports, o.problems)); err != nil {
		return err
	}
	if failed := view.CheckFailures(reports, unread); len(failed) > 0 {
		return app.Unhealthy("%s", strings.Join(failed, "; "))
	}
	return nil
}

// targets returns the clusters to check. unread is why there may be more.
func targets(ctx context.Context, a *app.App, target string, o options) (owners []owner.Owner, unread, err error) {
	if target != "" {
		c, err := a.Owner(ctx, target)
		if err != nil {
			return nil, nil, err
		}
		return []owner.Owner{c.Owner}, nil, nil
	}
	return o.scope.Clusters(ctx, a)
}
