// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
)

func newRestorePlanCommand(a *app.App) *cobra.Command {
	var o restoring.PlanOptions
	cmd := &cobra.Command{
		Use:   "restore-plan FILE TARGET",
		Short: "Print the steps to restore a snapshot into a cluster",
		Long: ui.Paragraphs(`
			Print the steps to restore a snapshot into a cluster. The commands contain the names, URLs,
			directories, volumes and users of its members. The command itself changes nothing.

			For a StatefulSet, the steps stop all members, create data directories on your machine, copy
			them into the volumes, keep the old data, and start the members as a new cluster. For a
			druid cluster, the steps copy the snapshot into the backup store, from which the sidecars
			restore it.

			The restore raises the revision by 1000000000 and marks all revisions before it as
			compacted, so that clients with watches notice the change of the data. To prevent that, use
			--bump-revision 0.`),
		Example: ui.Examples(`
			# Save the steps to a file
			kubectl etcd snapshot restore-plan main.db etcd-main > restore.txt

			# Print only the commands
			kubectl etcd snapshot restore-plan main.db etcd-main -o jsonpath='{range .steps[*]}{range .commands[*]}{@}{"\n"}{end}{end}'`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestorePlan(cmd, a, args[0], args[1], o)
		},
	}
	restoring.AddFlags(cmd, &o)
	restoring.AddAllowUnsaved(cmd, &o)
	restoring.AddLost(cmd, &o)
	ui.AddOutputFlags(cmd)
	return cmd
}

// runRestorePlan prints the steps to restore a file into a cluster.
func runRestorePlan(cmd *cobra.Command, a *app.App, file, target string, o restoring.PlanOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	ctx := cmd.Context()
	inspected, content, err := backup.Inspect(ctx, file, a.Warn)
	if err != nil {
		return err
	}
	c, r, err := restoring.PlanFor(ctx, a, target)
	if err != nil {
		return err
	}
	if err := change.Unfinished(ctx, a, c); err != nil { // snapshot restore refuses it, too
		return err
	}
	r.File, r.Snapshot = file, content
	r.Bump, r.Tool, r.KeepFor = o.Bump, o.Tool, o.KeepFor
	r.AllowUnsaved, r.Lost, r.Origin = o.AllowUnsaved, o.Lost, restoring.OriginOf(inspected)
	if err := restoring.Survey(ctx, a, c, target, &r); err != nil {
		return err
	}
	if err := r.MayBeLost(); err != nil {
		return app.Refused("%v", err)
	}
	if err := r.Find(ctx, c.Kube, c.Reader, o.Replicas, o.Image); err != nil {
		return err
	}
	steps, warnings, err := restore.Steps(r)
	if err != nil {
		return app.Refused("%v", err)
	}
	out := &v1alpha1.RestorePlan{Snapshot: *inspected, Cluster: backup.Reference(c.Owner), Warnings: warnings}
	for _, s := range steps {
		out.Steps = append(out.Steps, v1alpha1.RestoreStep{Title: s.Title, Why: s.Why, Commands: s.Commands(r.Flags)})
	}
	return a.Print(cmd, out, render.RestorePlan(a.Console, out))
}
