// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install/uninstall"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

func newWebhookUninstallCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 5 * time.Minute}
	all := false
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove etcd-webhook and restore what it changed",
		Long: ui.Paragraphs(`
			Remove etcd-webhook from the cluster, and restore what it changed. The steps are:

			1. Delete the webhook configurations.

			2. End all cuts of client traffic, and let etcd-druid reconcile the Etcds again.

			3. Delete etcd-webhook's permissions and its Deployment.

			4. Restore the values of disruption budgets that their authors requested, but never below the
			quorum. Delete the budgets that etcd-webhook created. If a rollout is held and the cluster is
			well, restore the author's update strategy. Kubernetes then continues the rollout. If the
			cluster is not well, or that is not known, the rollout stays held. The command prints why, and
			the kubectl patch that releases it later.

			5. Delete all other objects of etcd-webhook. Delete its namespace only if the namespace
			contains no other objects and you may list them.

			Only pods of a rollout that is released restart. The EtcdTopologyPolicies stay, without effect and without
			a status. Use --all to delete them.

			The command first tries every write. It changes nothing if the API server would reject a
			write, or if another operation runs on a cluster whose traffic is or was cut.

			The command also works if etcd-webhook no longer runs, and after kubectl delete -k. After an
			interruption, run it again.`),
		Example: ui.Examples(`
			# Print the plan and change nothing
			kubectl etcd webhook uninstall --dry-run=client

			# Uninstall, and delete the policies and their definition
			kubectl etcd webhook uninstall --all -y`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runUninstall(cmd.Context(), e, all, ch)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "Also delete the EtcdTopologyPolicies and their definition")
	change.AddFlags(cmd, &ch)
	return cmd
}

func runUninstall(ctx context.Context, e *app.App, all bool, ch change.Flags) error {
	u, err := newUninstall(e, ch)
	if err != nil {
		return err
	}
	u.All = all
	var found *uninstall.Installation
	return change.Do(ctx, e, nil, ch, change.Operation{
		Subject: "the installation", Needs: uninstall.FindNeeds(), Detaches: true,
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			found, plan, err = u.Judge(ctx, ch.DryRun == change.DryRunClient)
			return plan, err
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := u.Run(ctx, found, ch.Wait); err != nil {
				return err
			}
			run.Print("etcd-webhook is uninstalled.")
			return nil
		},
		Next: func(error) string { return "completed steps stay. Run the command again to continue" },
	})
}

func newUninstall(e *app.App, ch change.Flags) (*uninstall.Uninstaller, error) {
	kube, err := e.Quiet() // the webhook would warn about each budget that it maintains
	if err != nil {
		return nil, err
	}
	reader, err := e.Reader()
	if err != nil {
		return nil, err
	}
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	inventory, err := uninstall.NewNamespaceInventory(config)
	if err != nil {
		return nil, err
	}
	return &uninstall.Uninstaller{
		Kube: kube, Reader: reader, Clock: e.Clock, Inventory: inventory, Flags: e.ContextFlags(), Logf: e.Step, Warnf: e.Warn,
		Waiting: func(h lock.Holder, watch time.Duration) { change.Watching(e, h, watch) },
		Require: func(ctx context.Context, needs []operate.Need) error { return change.RequireOnly(ctx, e, kube, needs) },
		Restore: func(ctx context.Context, o owner.Owner, services []string) error {
			c := &app.Cluster{Owner: o, Reader: reader, Kube: kube}
			return change.Locked(ctx, app.Limit{}, e, c, ch, traffic.RestoreOperation, func(ctx context.Context, run *change.Run) error {
				return run.RestoreLocked(ctx, services)
			})
		},
	}, nil
}
