// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package list implements kubectl etcd list.
package list

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
)

// options are the flags of list.
type options struct {
	scope app.Scope
	// dial reads the version from the members if no image tag shows it.
	dial bool
	// all also lists workloads that may run etcd.
	all bool
}

// NewCommand returns the command kubectl etcd list.
func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "list [-A] [-l SELECTOR] [--all]",
		Aliases: []string{"ls"},
		Short:   "List the etcd clusters that you may see",
		Long: ui.Paragraphs(`
			List the etcd clusters of a namespace, or of all namespaces with -A: clusters of
			etcd-druid, StatefulSets that run etcd, and pods that run etcd without a StatefulSet.

			MEMBERS has the ready voters, as Kubernetes shows them, of all members that the workloads
			request. A learner is one of those members, and counts as ready when it votes.
			SLACK is the number of members that may still fail before the cluster loses its quorum.
			BACKUP is the age of the last snapshot of any kind.

			The data comes from Kubernetes objects. The command does not connect to members, except
			with -o wide or --dial if no image tag shows the version of etcd. Workloads whose lists of
			members (--initial-cluster) do not name each other have a row each, even if they are one
			cluster in etcd: use status or check, which ask etcd.

			--all also lists the workloads that may run etcd although nothing shows that they do,
			for example because a launcher hides it. For each, it prints why, and the commands that
			declare or deny it. Nothing is done for such a workload.

			-A needs permission to list in all namespaces. With permission in one namespace, use -n.
			If you lack permissions, the command reports what is missing on stderr. The exit code is 1
			if clusters may be missing for this reason, and 3 if it is not known what some StatefulSets
			execute, because it could not be read. It is 0 for unhealthy clusters: use status or check
			for their health.`),
		Example: ui.Examples(`
			# List all clusters that you may see
			kubectl etcd list -A

			# List the clusters of one team, with versions from the members
			kubectl etcd list -A -l team=payments -o wide

			# List what may be etcd too, and how to declare it
			kubectl etcd list -A --all

			# List the clusters that would lose their quorum with the next failure
			kubectl etcd list -A -o json | jq -r '.items[] | select(.quorum.slack < 1) | .namespace + "/" + .name'`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), a, cmd, o)
		},
	}
	o.scope.AddFlags(cmd, "List clusters")
	cmd.Flags().BoolVar(&o.dial, "dial", false, "Read the version from the members if the image tag does not show it")
	cmd.Flags().BoolVar(&o.all, "all", false, "Also list workloads that may run etcd, and how to declare or deny it")
	ui.AddOutputFlags(cmd)
	return cmd
}

func run(ctx context.Context, a *app.App, cmd *cobra.Command, o options) error {
	namespace, selector, err := o.scope.Read(a)
	if err != nil {
		return err
	}
	reader, err := a.Reader()
	if err != nil {
		return err
	}
	to, err := a.Access()
	if err != nil {
		return err
	}
	found, err := gather.List(ctx, reader, to, namespace, selector, o.dial || ui.FormatOf(cmd) == "wide", a.ContextFlags())
	if err != nil {
		return err
	}
	search := render.Search{Namespace: namespace, Selector: o.scope.Selector}
	if !o.all {
		warnWrong(a, found.Hinted)
		search.Unlisted, found.Hinted = len(found.Hinted), nil
	}
	if err := a.Print(cmd, found, render.List(a.Console, found, search, a.Clock.Now())); err != nil {
		return err
	}
	return reportUnseen(a, found.Unseen, namespace)
}

// warnWrong warns about declarations that count for nothing.
func warnWrong(a *app.App, hinted []v1alpha1.HintedWorkload) {
	for _, h := range hinted {
		if h.Problem != "" {
			a.Warn("%s %s/%s: %s.", h.Kind, h.Namespace, h.Name, h.Problem)
		}
	}
}

// reportUnseen warns about objects that the user may not list. It returns an error if clusters may
// be missing.
func reportUnseen(a *app.App, unseen []v1alpha1.Unseen, namespace string) error {
	missing, unread, others := gather.Gaps(unseen)
	for _, u := range others {
		a.Warn("%s: %s.", u.What, u.Why)
	}
	if len(missing) == 0 && len(unread) > 0 {
		return app.Unhealthy("clusters may be missing: %s", strings.Join(unread, "; "))
	}
	for _, why := range unread {
		a.Warn("%s.", why)
	}
	if len(missing) == 0 {
		return nil
	}
	hint := ""
	if namespace == "" {
		hint = "; -n NAMESPACE lists the clusters of one namespace"
	}
	return fmt.Errorf("clusters may be missing: you may not list %s%s%s", strings.Join(missing, ", "), ui.ScopeText(namespace, ""), hint)
}
