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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

func newWebhookUninstallCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 5 * time.Minute}
	all := false
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove etcd-webhook, and give back what it holds",
		Long: ui.Paragraphs(`
			Remove etcd-webhook from the cluster, and leave nothing of it in force: the webhook
			configurations go first, cuts of client traffic are lifted, etcd-druid goes on with what a cut
			had it leave alone, and its rights and its Deployment go. Then every budget gets back what its
			author asked for, but not less than the quorum, and those that etcd-webhook made go. Everything
			else of it goes last. No pod restarts. A namespace that it was installed into goes only where
			nothing of anybody else's lives in it, which you must be allowed to see.

			It is refused before it has done anything where the API server wouldn't take a write, or where
			somebody is at work on a cluster whose traffic is cut, or was.

			It does all of this itself, so it works where etcd-webhook doesn't run any more, and also after
			kubectl delete -k. When it was interrupted, run it again.

			The EtcdTopologyPolicies stay, without effect and without a status, unless --all is given.`),
		Example: ui.Examples(`
			# See what it would do
			kubectl etcd webhook uninstall --dry-run=client

			# Do it, with the policies and their definition
			kubectl etcd webhook uninstall --all -y`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runUninstall(cmd.Context(), e, all, ch)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "Delete the EtcdTopologyPolicies and their definition, too")
	change.AddFlags(cmd, &ch)
	return cmd
}

func runUninstall(ctx context.Context, e *app.App, all bool, ch change.Flags) error {
	kube, err := e.Quiet() // what it says of budgets that it still keeps is known
	if err != nil {
		return err
	}
	reader, err := e.Reader()
	if err != nil {
		return err
	}
	if err := change.RequireOnly(ctx, e, kube, install.FindNeeds()); err != nil {
		return err
	}
	census, err := census(e)
	if err != nil {
		return err
	}
	found, err := install.Find(ctx, kube, census)
	if err != nil {
		return err
	}
	if found.Empty() && (!all || len(found.Policies)+len(found.Definition) == 0) {
		return nothingInstalled(e, found)
	}
	u := &install.Uninstall{
		Kube: kube, Reader: reader, Clock: e.Clock, Inventory: census, All: all, Waiting: func(h lock.Holder, watch time.Duration) { change.Watching(e, h, watch) }, Logf: e.Step, Warnf: e.Warn,
		Restore: func(ctx context.Context, service client.ObjectKey) error {
			return restoreService(ctx, e, kube, service, ch)
		},
	}
	return change.Do(ctx, e, nil, ch, change.Operation{
		Detaches: true,
		Judge: func(ctx context.Context) (operate.Plan, error) {
			if ch.DryRun == change.DryRunClient {
				return u.Plan(found), nil
			}
			return u.Plan(found), mayUninstall(ctx, e, kube, u, found)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := u.Run(ctx, found, ch.Wait); err != nil {
				return fmt.Errorf("%w; what was done is done: run it again to go on", err)
			}
			run.Print("etcd-webhook is uninstalled.")
			return nil
		},
	})
}

// nothingInstalled says so, what stays, and which namespace of somebody's still has its labels.
func nothingInstalled(e *app.App, found *install.Installation) error {
	for _, s := range found.Retained {
		e.Warn("%s.", s)
	}
	text := "nothing of it is left."
	if len(found.Policies)+len(found.Definition) > 0 {
		text = fmt.Sprintf("only policies (%d) and their definition are left of it; --all deletes them.", len(found.Policies))
	}
	_, err := fmt.Fprintln(e.Out, "etcd-webhook is not installed, and "+text)
	return err
}

// census looks at what lives in a namespace.
func census(e *app.App) (install.NamespaceInventory, error) {
	config, err := e.Config()
	if err != nil {
		return install.NamespaceInventory{}, err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // of kinds that are old: it looks at all that there are
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return install.NamespaceInventory{}, err
	}
	objects, err := metadata.NewForConfig(config)
	return install.NamespaceInventory{Served: served, Objects: objects}, err
}

// mayUninstall asks for every permission, looks whether anybody holds what it needs, and
// tries every write.
func mayUninstall(ctx context.Context, e *app.App, kube client.Client, u *install.Uninstall, found *install.Installation) error {
	needs := u.Needs(found)
	var cut []observe.Owner
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

// restoreService ends a cut as restore-client-traffic does: under the lock of the
// cluster that is cut, and with who cut forgotten.
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
	if c == nil { // it selects no members any more
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
		return forced() // it is none that a cut would choose: it was cut by hand
	}
	return change.Locked(ctx, app.Limit{}, e, c, ch, traffic.RestoreOperation, func(ctx context.Context, run *change.Run) error {
		return run.RestoreLocked(ctx, names)
	})
}

// clusterOfService is the first cluster whose members a Service selects, nil when
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
