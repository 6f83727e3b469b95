// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

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

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

func newWebhookUninstallCmd(e *env) *cobra.Command {
	ch := change{timeout: 5 * time.Minute}
	all := false
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove etcd-webhook, and give back what it holds",
		Long: paragraphs(`
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
		Example: examples(`
			# See what it would do
			kubectl etcd webhook uninstall --dry-run=client

			# Do it, with the policies and their definition
			kubectl etcd webhook uninstall --all -y`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return uninstallWebhook(cmd.Context(), e, all, ch)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "Delete the EtcdTopologyPolicies and their definition, too")
	addChangeFlags(cmd, &ch)
	return cmd
}

func uninstallWebhook(ctx context.Context, e *env, all bool, ch change) error {
	kube, err := e.quiet() // what it says of budgets that it still keeps is known
	if err != nil {
		return err
	}
	reader, err := e.reader()
	if err != nil {
		return err
	}
	if err := e.requireOnly(ctx, kube, operate.FindNeeds()); err != nil {
		return err
	}
	census, err := e.census()
	if err != nil {
		return err
	}
	found, err := operate.FindInstallation(ctx, kube, census)
	if err != nil {
		return err
	}
	if found.Empty() && (!all || len(found.Policies)+len(found.Definition) == 0) {
		return e.nothingInstalled(found)
	}
	u := &operate.Uninstall{
		Kube: kube, Reader: reader, Clock: e.clock, Census: census, All: all, Waiting: func(h operate.Holder, watch time.Duration) { e.watching(h, watch) }, Say: e.step, Warn: e.warn,
		Restore: func(ctx context.Context, service client.ObjectKey) error {
			return e.restoreService(ctx, kube, service, ch)
		},
	}
	if ch.dryRun != dryRunClient {
		if err := e.mayUninstall(ctx, kube, u, found); err != nil {
			return err
		}
	}
	if proceed, err := e.propose(ctx, nil, u.Plan(found), ch); err != nil || !proceed {
		return err
	}
	if ch.dryRun == dryRunServer {
		fmt.Fprintln(e.ErrOut, "The API server would take every write. Nothing was changed (--dry-run=server).")
		return nil
	}
	ctx, cancel := within(ctx, ch.timeout, "uninstall etcd-webhook")
	defer cancel()
	if err := u.Run(ctx, found, ch.wait); err != nil {
		return fmt.Errorf("%w; what was done is done: run it again to go on", err)
	}
	fmt.Fprintln(e.Out, "etcd-webhook is uninstalled.")
	return nil
}

// nothingInstalled says so, what stays, and which namespace of somebody's still has its labels.
func (e *env) nothingInstalled(found *operate.Installation) error {
	for _, s := range found.Spared {
		e.warn("%s.", s)
	}
	text := "nothing of it is left."
	if len(found.Policies)+len(found.Definition) > 0 {
		text = fmt.Sprintf("only policies (%d) and their definition are left of it; --all deletes them.", len(found.Policies))
	}
	_, err := fmt.Fprintln(e.Out, "etcd-webhook is not installed, and "+text)
	return err
}

// census looks at what lives in a namespace.
func (e *env) census() (operate.Census, error) {
	config, err := e.config()
	if err != nil {
		return operate.Census{}, err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // of kinds that are old: it looks at all that there are
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return operate.Census{}, err
	}
	objects, err := metadata.NewForConfig(config)
	return operate.Census{Served: served, Objects: objects}, err
}

// mayUninstall asks for every permission, looks whether anybody holds what it needs, and
// tries every write.
func (e *env) mayUninstall(ctx context.Context, kube client.Client, u *operate.Uninstall, found *operate.Installation) error {
	needs := u.Needs(found)
	var cut []observe.Owner
	for i := range found.Cut {
		c, err := e.clusterOfService(ctx, kube, &found.Cut[i])
		if err != nil {
			return err
		}
		if c != nil {
			cut = append(cut, c.Owner)
			needs = append(needs, operate.LockNeeds(c.Owner)...)
			needs = append(needs, operate.Need{Verb: "patch", Group: coordinationv1.GroupName, Resource: "leases", Namespace: c.Namespace, Name: operate.LockName(c.Owner)})
		}
	}
	if err := e.requireOnly(ctx, kube, needs); err != nil {
		return err
	}
	if err := u.Free(ctx, found, cut); err != nil {
		return err
	}
	return u.Try(ctx, found)
}

// restoreService ends a cut as restore-client-traffic does: under the lock of the
// cluster that is cut, and with who cut forgotten.
func (e *env) restoreService(ctx context.Context, kube client.Client, key client.ObjectKey, ch change) error {
	var service corev1.Service
	if err := kube.Get(ctx, key, &service); err != nil {
		return client.IgnoreNotFound(err)
	}
	c, err := e.clusterOfService(ctx, kube, &service)
	if err != nil {
		return err
	}
	forced := func() error {
		if _, err := operate.RestoreService(ctx, kube, key); err != nil {
			return err
		}
		e.step("Client traffic through Service %s is restored", key)
		return nil
	}
	if c == nil { // it selects no members any more
		return forced()
	}
	t, err := e.restorableOf(ctx, c, c.Ref())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(t.services.Chosen, func(s corev1.Service) bool { return s.Name == key.Name }) {
		return forced() // it is none that a cut would choose: somebody cut it by hand
	}
	t.change = ch
	return t.restoreLocked(ctx)
}

// clusterOfService is the first cluster whose members a Service selects, nil when
// there is none.
func (e *env) clusterOfService(ctx context.Context, kube client.Client, service *corev1.Service) (*cluster, error) {
	reader, err := e.reader()
	if err != nil {
		return nil, err
	}
	owners, _, err := reader.OwnersOfService(ctx, service)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	return &cluster{Owner: owners[0], reader: reader, kube: kube}, nil
}
