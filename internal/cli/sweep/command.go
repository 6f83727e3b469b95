// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package sweep implements kubectl etcd sweep.
package sweep

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/sweep"
)

// options are the flags of sweep.
type options struct {
	change.Flags

	allNamespaces bool
	// remove removes what may be removed.
	remove bool
	// claims are the volume claims to delete.
	claims []string
	// image is that of the helper pods that delete old data.
	image string
}

// NewCommand returns the command kubectl etcd sweep.
func NewCommand(a *app.App) *cobra.Command {
	o := options{Flags: change.Flags{Timeout: 10 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "sweep [TARGET | -A]",
		Short: "List what operations have left behind, and remove it with --remove",
		Long: ui.Paragraphs(`
			List what is left of operations of this plugin, of etcd-webhook, and of members that are gone.

			Operations leave journals of StatefulSets that are gone, journals of operations that have been unfinished
			for more than a day, cuts of client traffic that should have ended, and locks of clusters that are gone.
			Restores also leave helper pods, and the old data that they keep. etcd-webhook leaves rollouts and
			disruption budgets that it changed before it was removed. Members that etcd does not have leave leases
			and volume claims.

			WHY is the reason. WAY is "--remove" for what --remove removes, "--delete-claims" for a volume
			claim, and "by hand" for what another command ends. The commands are below the table. Without
			--remove, nothing is changed.

			--remove removes all that may be removed, and volume claims only if --delete-claims names them. It
			judges each object again just before it removes it. It removes an object only if all facts about it
			are known. It removes nothing of a cluster with an operation under way, and no lease or volume claim
			of a member that etcd has. For a rollout and a budget, it restores what their author requested. It
			ends no cut, and continues no operation. Old data is only removed when the deadline of snapshot restore
			--keep-old-for has passed and the cluster is healthy.

			TARGET limits the search to one cluster. If the cluster is gone, use its name. The members
			are only asked if a lease, a volume claim or a held rollout depends on their answer.

			The exit code is 3 if something can't be read, so that it is not known whether it is left over.`),
		Example: ui.Examples(`
			# List what is left behind in all namespaces
			kubectl etcd sweep -A

			# Remove what may be removed in a namespace
			kubectl etcd sweep --remove -n team-a

			# Also delete the volume claim of a member that was removed
			kubectl etcd sweep etcd-main --remove --delete-claims data-etcd-main-3 -n team-a

			# Count the objects of each kind
			kubectl etcd sweep -A -o json | jq '.items | group_by(.kind) | map({(.[0].kind): length}) | add'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := strings.Join(args, "")
			if err := o.validate(cmd, target); err != nil {
				return err
			}
			return run(cmd.Context(), a, cmd, target, o)
		},
	}
	o.addTo(cmd)
	return cmd
}

// addTo adds the flags to the command.
func (o *options) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Search all namespaces")
	flags.BoolVar(&o.remove, "remove", false, "Remove what may be removed")
	flags.StringSliceVar(&o.claims, "delete-claims", nil, "Names of volume claims to delete with --remove. Their data is deleted with them")
	flags.StringVar(&o.image, "helper-image", "busybox:1.37", "Image with a shell, for pods that delete the old data of restores")
	ui.AddOutputFlags(cmd)
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsMutuallyExclusive("remove", "output")
	cmd.MarkFlagsMutuallyExclusive("all-namespaces", "delete-claims")
}

// validate checks what needs no connection to the API server.
func (o *options) validate(cmd *cobra.Command, target string) error {
	if target != "" && o.allNamespaces {
		return fmt.Errorf("TARGET can't be used together with -A")
	}
	return change.OnlyWith(cmd, "remove", "delete-claims", "helper-image")
}

func run(ctx context.Context, a *app.App, cmd *cobra.Command, target string, o options) error {
	t, err := newTask(ctx, a, target, o)
	if err != nil {
		return err
	}
	if o.remove {
		return t.remove(ctx)
	}
	state, err := t.sweeper.Observe(ctx, t.scope)
	if err != nil {
		return err
	}
	report := state.Report(t.scope.Namespace)
	if err := a.Print(cmd, report, render.Sweep(a.Console, report, state.Used(), a.Clock.Now())); err != nil {
		return err
	}
	return unknown(state)
}

// unknown returns an error for exit code 3 if it is not known whether something is left over.
func unknown(s *sweep.State) error {
	if doubt := s.Doubt(); doubt != "" {
		return app.Unhealthy("%s", doubt)
	}
	return nil
}
