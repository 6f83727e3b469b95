// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package diagnose implements kubectl etcd diagnose.
package diagnose

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// NewCommand returns the command kubectl etcd diagnose.
func NewCommand(a *app.App) *cobra.Command {
	var scope app.Scope
	cmd := &cobra.Command{
		Use:   "diagnose [TARGET]",
		Short: "Show what is wrong with a cluster, what happens by itself, and what to do next",
		Long: ui.Paragraphs(`
			Show what is wrong with a cluster, and what to do next. Read the lines State and Next first. Do
			this one step, then diagnose again.

			Below them are the causes: the scenarios that apply now, the most urgent first. They are those of
			DEP-01, the design of etcd-druid's clusters, and others for states that DEP-01 does not have. For each
			scenario, the command shows its conditions with what was observed, the grace period that runs,
			and what etcd-druid, the kubelet and other programs will do by themselves. At the end is what
			each member will do when it starts again. That depends on its volume, the member list and the
			backups.

			Without TARGET, the command diagnoses the only cluster of the namespace.

			The command changes nothing. It deletes no pod, volume or member, and restores nothing. It
			prints a command that does so only if the rules of that command allow it. It doesn't read the
			content of volumes. It recognises lost data by volume claims and logs.

			Exit codes: 0 nothing is to be done, 3 something is, even if it is only to wait, 1 error.`),
		Example: ui.Examples(`
			# Diagnose the only cluster of the namespace
			kubectl etcd diagnose

			# Diagnose a cluster by the name of any of its objects
			kubectl etcd diagnose etcd-main -n team-a

			# Print the next command
			kubectl etcd diagnose etcd-main -o jsonpath='{.next.command}{"\n"}'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, cmd, strings.Join(args, ""), scope)
		},
	}
	scope.AddFlags(cmd, "Diagnose the only cluster")
	ui.AddOutputFlags(cmd)
	return cmd
}

func run(ctx context.Context, a *app.App, cmd *cobra.Command, target string, scope app.Scope) error {
	if err := scope.RejectTarget(target); err != nil {
		return err
	}
	o, err := ownerOf(ctx, a, target, scope)
	if err != nil {
		return err
	}
	source, err := a.Source()
	if err != nil {
		return err
	}
	line := a.NewStatusLine()
	source.Progress = line.Show
	f := source.Facts(ctx, o, health.DiagnosisChecks())
	line.End()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	facts := f.Recovery()
	d := view.Diagnosis(f, recovery.Diagnose(facts), facts.Unread)
	err = a.Print(cmd, d, render.Diagnosis(a.Console, d))
	if err != nil || d.Healthy {
		return err
	}
	return app.Unhealthy("%s in namespace %s: %s", d.Cluster.Target, d.Cluster.Namespace, brief(d))
}

// ownerOf returns the cluster of the target or the scope.
func ownerOf(ctx context.Context, a *app.App, target string, scope app.Scope) (owner.Owner, error) {
	if scope != (app.Scope{}) {
		return scope.Single(ctx, a)
	}
	c, err := a.Owner(ctx, target)
	if err != nil {
		return owner.Owner{}, err
	}
	return c.Owner, nil
}

// brief returns the diagnosis for the line of an error.
func brief(d *v1alpha1.EtcdDiagnosis) string {
	return d.Scenarios[0].ID + " " + d.Scenarios[0].Reason
}
