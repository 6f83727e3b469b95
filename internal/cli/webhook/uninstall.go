// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
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
			quorum. Delete the budgets that etcd-webhook created.

			5. Delete all other objects of etcd-webhook. Delete its namespace only if the namespace
			contains no other objects and you may list them.

			No pod restarts. The EtcdTopologyPolicies stay, without effect and without a status. Use --all
			to delete them.

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
	kube, err := e.Quiet() // the webhook would warn about each budget that it maintains
	if err != nil {
		return err
	}
	reader, err := e.Reader()
	if err != nil {
		return err
	}
	inventory, err := newInventory(e)
	if err != nil {
		return err
	}
	var found *install.Installation
	u := &install.Uninstall{
		Kube: kube, Reader: reader, Clock: e.Clock, Inventory: inventory, All: all, Logf: e.Step, Warnf: e.Warn,
		Waiting: func(h lock.Holder, watch time.Duration) { change.Watching(e, h, watch) },
		Restore: func(ctx context.Context, service client.ObjectKey) error {
			return restoreService(ctx, e, kube, service, ch)
		},
	}
	return change.Do(ctx, e, nil, ch, change.Operation{
		Needs: install.FindNeeds(), Detaches: true,
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			if found, err = install.Find(ctx, kube, inventory); err != nil {
				return plan, err
			}
			if found.Empty() && (!all || len(found.Policies)+len(found.Definition) == 0) {
				return nothingInstalled(e, found), nil
			}
			if ch.DryRun == change.DryRunClient {
				return u.Plan(found), nil
			}
			return u.Plan(found), mayUninstall(ctx, e, kube, u, found)
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

// nothingInstalled prints that etcd-webhook is not installed, and which policies and namespaces
// remain.
func nothingInstalled(e *app.App, found *install.Installation) operate.Plan {
	for _, s := range found.Retained {
		e.Warn("%s.", s)
	}
	text := "none of its objects exists."
	if len(found.Policies)+len(found.Definition) > 0 {
		text = fmt.Sprintf("only policies (%d) and their definition remain. --all deletes them.", len(found.Policies))
	}
	return operate.Plan{Already: "etcd-webhook is not installed, and " + text}
}

// newInventory returns a client that lists all objects of a namespace.
func newInventory(e *app.App) (install.NamespaceInventory, error) {
	config, err := e.Config()
	if err != nil {
		return install.NamespaceInventory{}, err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // it reads all kinds, deprecated ones too
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return install.NamespaceInventory{}, err
	}
	objects, err := metadata.NewForConfig(config)
	return install.NamespaceInventory{Served: served, Objects: objects}, err
}

// mayUninstall returns an error if a permission is missing, another operation holds a lock that
// the uninstallation needs, or the API server rejects a write in a dry run.
func mayUninstall(ctx context.Context, e *app.App, kube client.Client, u *install.Uninstall, found *install.Installation) error {
	needs := u.Needs(found)
	var cut []owner.Owner
	for i := range found.Cut {
		c, err := clusterOfService(ctx, e, kube, &found.Cut[i])
		if err != nil {
			return err
		}
		if c != nil {
			cut = append(cut, c.Owner)
			needs = append(needs, lock.Needs(c.Owner)...)
			needs = append(needs, operate.Need{Verb: "patch", Group: coordinationv1.GroupName, Resource: "leases", Namespace: c.Namespace, Name: lock.Name(c.Owner)})
		}
	}
	if err := change.RequireOnly(ctx, e, kube, needs); err != nil {
		return err
	}
	if err := u.CheckLocks(ctx, found, cut); err != nil {
		return err
	}
	return u.Try(ctx, found)
}

// restoreService ends a cut as restore-client-traffic does: under the cluster's lock, and it
// removes the record of the cut.
func restoreService(ctx context.Context, e *app.App, kube client.Client, key client.ObjectKey, ch change.Flags) error {
	var service corev1.Service
	if err := kube.Get(ctx, key, &service); err != nil {
		return client.IgnoreNotFound(err)
	}
	c, err := clusterOfService(ctx, e, kube, &service)
	if err != nil {
		return err
	}
	forced := func() error {
		if _, err := traffic.Restore(ctx, kube, key); err != nil {
			return err
		}
		e.Step("Client traffic through Service %s is restored", key)
		return nil
	}
	if c == nil { // the Service selects no members any more
		return forced()
	}
	services, err := traffic.CutServices(ctx, c.Reader, c.Owner)
	if err != nil {
		return err
	}
	var names []string
	for i := range services {
		names = append(names, services[i].Name)
	}
	if !slices.Contains(names, key.Name) {
		return forced() // a cut by the plugin wouldn't choose this Service: it was cut by hand
	}
	return change.Locked(ctx, app.Limit{}, e, c, ch, traffic.RestoreOperation, func(ctx context.Context, run *change.Run) error {
		return run.RestoreLocked(ctx, names)
	})
}

// clusterOfService returns the first cluster whose members a Service selects. It is nil if
// there is none.
func clusterOfService(ctx context.Context, e *app.App, kube client.Client, service *corev1.Service) (*app.Cluster, error) {
	reader, err := e.Reader()
	if err != nil {
		return nil, err
	}
	owners, _, err := reader.OwnersOfService(ctx, service)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	return &app.Cluster{Owner: owners[0], Reader: reader, Kube: kube}, nil
}
