// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/check"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// options are the flags of check.
type options struct {
	selection check.Selection
	scope     app.Scope
	hashLarge bool
	problems  bool
}

func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "check [TARGET]",
		Short: "Look for what is wrong with a cluster, and say what mends it",
		Long: ui.Paragraphs(`
			Look for what is wrong with a cluster, or soon will be: quorum, members, data, versions and
			clocks, certificates, placement, disruption budgets, probes, backups, the operator, traffic.
			Each check has an ID that never changes. It changes nothing.

			A failure is damage, or what becomes damage by itself; a warning is what one more event
			turns into damage; unknown is what could not be looked at, with the permission that is
			missing. Exit code 3 means that a check failed; 0 that none did, warnings or not.

			Without TARGET all clusters of the namespace are checked.`),
		Example: ui.Examples(`
			# One cluster
			kubectl etcd check etcd-main -n team-a

			# All clusters, only what isn't well
			kubectl etcd check -A --problems

			# Two categories and one more check
			kubectl etcd check etcd-main --only quorum,backups,C002

			# What failed, for a script
			kubectl etcd check etcd-main -o json | jq -r '.checks[] | select(.result=="Failure").id'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			return run(cmd.Context(), a, cmd, target, o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.selection.Only, "only", nil, "Run only these checks: IDs or categories, separated by commas")
	flags.StringSliceVar(&o.selection.Skip, "skip", nil, "Leave these checks out: IDs or categories, separated by commas")
	o.scope.AddFlags(cmd, "Check the clusters")
	flags.BoolVar(&o.hashLarge, "hash-large", false, "Compare the data of the members also where a database is above 2 GiB, which they read in full")
	flags.BoolVar(&o.problems, "problems", false, "Print only what isn't OK")
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
	owners, err := targets(ctx, a, target, o)
	if err != nil {
		return err
	}
	source, err := newSource(a, o)
	if err != nil {
		return err
	}
	say := a.NewStatusLine()
	source.Say = say.Show
	reports := make([]v1alpha1.CheckReport, len(owners))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for i, owner := range owners {
		group.Go(func() error {
			f := source.Gather(within, owner, checks)
			reports[i] = newReport(f, check.Run(checks, f))
			return context.Cause(within)
		})
	}
	err = group.Wait()
	say.End()
	if err != nil {
		return err
	}
	if err := printReports(a, cmd, target, reports, o.problems); err != nil {
		return err
	}
	return failure(reports)
}

// targets are the clusters to check.
func targets(ctx context.Context, a *app.App, target string, o options) ([]observe.Owner, error) {
	if target != "" {
		c, err := a.Owner(ctx, target)
		if err != nil {
			return nil, err
		}
		return []observe.Owner{c.Owner}, nil
	}
	return o.scope.Clusters(ctx, a)
}

func newSource(a *app.App, o options) (check.Source, error) {
	reader, err := a.Reader()
	if err != nil {
		return check.Source{}, err
	}
	config, err := a.Config()
	if err != nil {
		return check.Source{}, err
	}
	credentials, err := a.Credentials.Read(a)
	if err != nil {
		return check.Source{}, err
	}
	return check.Source{
		Reader: reader, Credentials: credentials, Config: config, Clock: clock.RealClock{}, Flags: a.ContextFlags(), HashLarge: o.hashLarge,
		LockName: operate.LockName, OperationKey: operate.OperationAnnotation,
	}, nil
}

func newReport(f *check.Facts, results []check.Result) v1alpha1.CheckReport {
	r := v1alpha1.CheckReport{
		Cluster: v1alpha1.CheckedCluster{
			Namespace: f.Owner.Namespace, Kind: f.Owner.Kind, Name: f.Owner.Name, Target: f.Owner.Target().String(),
			Distribution: string(f.Owner.Distribution), Replicas: f.Owner.Replicas,
		},
		Time: metav1.NewTime(f.At.UTC()), Result: string(check.Worst(results)),
	}
	for _, result := range results {
		one := v1alpha1.CheckResult{
			ID: result.Check.ID, Category: string(result.Check.Category), Title: result.Check.Title, Result: string(result.Level),
		}
		for _, finding := range result.Findings {
			if finding.Level != check.OK || finding.Message != "" {
				one.Findings = append(one.Findings, v1alpha1.CheckFinding{Level: string(finding.Level), Message: finding.Message, Fix: finding.Fix})
			}
		}
		r.Checks = append(r.Checks, one)
		count(&r.Summary, result.Level)
	}
	return r
}

func count(s *v1alpha1.CheckSummary, level check.Level) {
	switch level {
	case check.OK:
		s.OK++
	case check.Info:
		s.Info++
	case check.Unknown:
		s.Unknown++
	case check.Warning:
		s.Warning++
	case check.Failure:
		s.Failure++
	case check.NotApplicable:
		s.NotApplicable++
	}
}

func printReports(a *app.App, cmd *cobra.Command, target string, reports []v1alpha1.CheckReport, problems bool) error {
	p := printer{Console: a.Console, problems: problems}
	var obj runtime.Object = &v1alpha1.CheckReportList{Items: reports}
	if target != "" {
		obj = &reports[0]
	}
	return a.Print(cmd, obj, func(w io.Writer, wide bool) error {
		p.out, p.all, p.columns = w, wide, ui.Width(w)
		return p.print(reports)
	})
}

// failure is exit code 3 where any check failed.
func failure(reports []v1alpha1.CheckReport) error {
	var failed []string
	for _, r := range reports {
		if r.Summary.Failure > 0 {
			failed = append(failed, fmt.Sprintf("%s in %s fails %s", r.Cluster.Target, r.Cluster.Namespace, ui.NumberOf(r.Summary.Failure, "check", "checks")))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return app.Unhealthy("%s", strings.Join(failed, "; "))
}
