// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// options are the flags of list.
type options struct {
	scope app.Scope
	// dial asks the members for their version where no image tells it.
	dial bool
}

func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "list [-A] [-l SELECTOR]",
		Aliases: []string{"ls"},
		Short:   "List the etcd clusters that you may see",
		Long: ui.Paragraphs(`
			List the etcd clusters of a namespace, or of all with -A: those of etcd-druid, every
			StatefulSet that runs etcd, and pods that run etcd without one.

			SLACK is how many more members may fail before the cluster loses its quorum. BACKUP is
			the age of the last snapshot of any kind, by the clock of whoever took it. What is shown
			comes from the objects of Kubernetes: no member is asked, so that this is fast. Where
			no image's tag tells the version of etcd, -o wide and --dial ask the members for it.

			-A takes the right to list in all namespaces; who has it in some of them alone names one with
			-n. What you may not see is named on stderr. The exit code is 1 when clusters may be missing
			for that reason, and 0 also when clusters are unwell: status and check judge that.`),
		Example: ui.Examples(`
			# Every cluster that you may see
			kubectl etcd list -A

			# Those of one team, with versions asked from the members
			kubectl etcd list -A -l team=payments -o wide

			# Clusters that can't lose a member any more
			kubectl etcd list -A -o json | jq -r '.items[] | select(.quorum.slack < 1) | .namespace + "/" + .name'`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), a, cmd, o)
		},
	}
	flags := cmd.Flags()
	o.scope.AddFlags(cmd, "List the clusters")
	flags.BoolVar(&o.dial, "dial", false, "Ask members for their version where the image's tag doesn't tell it")
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
	found, err := health.Survey(ctx, reader, to, namespace, selector, o.dial || ui.FormatOf(cmd) == "wide")
	if err != nil {
		return err
	}
	err = a.Print(cmd, found, func(w io.Writer, wide bool) error {
		if len(found.Items) == 0 && len(found.Unseen) > 0 {
			return nil // what follows says why nothing is shown
		}
		if len(found.Items) == 0 {
			fmt.Fprintf(a.ErrOut, "No etcd clusters found%s.\n", app.ScopeText(namespace, o.scope.Selector))
			return nil
		}
		t := Table(found, o.scope.AllNamespaces, a.Clock.Now())
		return t.Write(a.Console, w, wide)
	})
	if err != nil {
		return err
	}
	return reportUnseen(a, found, namespace)
}

// reportUnseen names what may be missing. It fails when that may be whole clusters.
func reportUnseen(a *app.App, found *v1alpha1.EtcdClusterList, namespace string) error {
	var missing []string
	for _, u := range found.Unseen {
		if health.RequiredKinds[u.What] {
			missing = append(missing, u.What)
			continue
		}
		a.Warn("%s: %s.", u.What, u.Why)
	}
	if len(missing) == 0 {
		return nil
	}
	hint := ""
	if namespace == "" {
		hint = "; -n NAMESPACE shows those of one that you may look at"
	}
	return fmt.Errorf("clusters may be missing: you may not list %s%s%s", strings.Join(missing, ", "), app.ScopeText(namespace, ""), hint)
}
