// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package status implements kubectl etcd status.
package status

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
)

// options are the flags of status.
type options struct {
	scope    app.Scope
	watch    bool
	interval time.Duration
}

// NewCommand returns the command kubectl etcd status.
func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "status [TARGET]",
		Short: "Show the health of an etcd cluster on one screen",
		Long: ui.Paragraphs(`
			Show the health of an etcd cluster: the status that the members report, quorum and leader,
			and the conditions that the operator maintains. Also show the nodes and zones of the
			members compared to the policy, the disruption budget with the reason for its value,
			backups, recent warnings, and commands to run next.

			Without TARGET, the command shows the only cluster of the namespace. With -A or -l, it
			shows the only cluster of all namespaces or with these labels.

			Problems are what kubectl etcd check finds. That command checks more.

			Health counts ready members as list does: voters, as Kubernetes shows them, of all members
			that the workloads request. Quorum counts the voters that answer and follow the leader.

			LAG is the number of raft entries that a member is behind the most advanced one. If a
			member does not answer or you lack a permission, the output contains the reason.

			With --watch, the command refreshes the terminal. If stdout is not a terminal, or with -o
			json or yaml, it prints the status again after a change. A change of a revision, a size or
			the time of a backup does not count.

			Exit codes: 0 healthy, or 0 members are requested; 3 not healthy; 1 error.`),
		Example: ui.Examples(`
			# Show the only cluster of the namespace
			kubectl etcd status

			# Show a cluster by the name of any of its objects
			kubectl etcd status etcd-main -n team-a
			kubectl etcd status pod/etcd-main-0 -n team-a

			# Show the only cluster with a label in all namespaces
			kubectl etcd status -A -l cluster=payments

			# Watch a rollout
			kubectl etcd status etcd-main -n team-a --watch

			# Print the leader
			kubectl etcd status etcd-main -n team-a -o jsonpath='{.leader}{"\n"}'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, cmd, strings.Join(args, ""), o)
		},
	}
	flags := cmd.Flags()
	o.scope.AddFlags(cmd, "Show the only cluster")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Refresh the status until interrupted")
	flags.DurationVar(&o.interval, "interval", 2*time.Second, "Time between two refreshes of --watch")
	ui.AddOutputFlags(cmd)
	return cmd
}

func run(ctx context.Context, a *app.App, cmd *cobra.Command, target string, o options) error {
	v, err := newObserver(ctx, a, target, o.scope)
	if err != nil {
		return err
	}
	defer v.Close()
	if o.watch {
		return watch(ctx, a, cmd, v, max(o.interval, 200*time.Millisecond))
	}
	seen, err := v.Observe(ctx)
	if err != nil {
		return err
	}
	st := view.StatusOf(seen)
	if err := a.Print(cmd, st, render.Status(a.Console, st)); err != nil {
		return err
	}
	return healthError(st)
}

// newObserver returns an observer for the cluster of the target or the scope.
func newObserver(ctx context.Context, a *app.App, target string, s app.Scope) (*gather.Observer, error) {
	namespace, t, err := s.Target(ctx, a, target)
	if err != nil {
		return nil, err
	}
	source, err := a.Source()
	if err != nil {
		return nil, err
	}
	return gather.NewObserver(source, namespace, t), nil
}

// healthError returns an error for exit code 3 if the cluster is not healthy.
func healthError(st *v1alpha1.EtcdClusterStatus) error {
	switch st.Health {
	case v1alpha1.Healthy, v1alpha1.Hibernated:
		return nil
	}
	first := ""
	if len(st.Problems) > 0 {
		first = ": " + st.Problems[0].Message
	}
	if st.Health == v1alpha1.Unknown {
		return app.Unhealthy("the health of %s in namespace %s is unknown%s", st.Cluster.Target, st.Cluster.Namespace, first)
	}
	return app.Unhealthy("%s in namespace %s is %s%s", st.Cluster.Target, st.Cluster.Namespace, strings.ToLower(st.Health), first)
}
