// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// options are the flags of status.
type options struct {
	scope    app.Scope
	watch    bool
	interval time.Duration
}

func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "status [TARGET]",
		Short: "Show one etcd cluster on one screen",
		Long: ui.Paragraphs(`
			Show how an etcd cluster is: its members as they say themselves, quorum and leader, the
			conditions that its operator keeps, where the members run against the policy, the
			disruption budget and why it has its value, backups, the last warnings, and what to do
			next. Without TARGET it is the only cluster of the namespace, or of all with -A, or with
			the labels of -l.

			LAG is how many entries a member has yet to apply of those that the furthest one has. What
			can't be seen, because a member is silent or you lack a right, is said in its place.

			With --watch a terminal is drawn again and again. Elsewhere, and with -o json or yaml,
			what is printed follows when something has changed other than by the cluster's daily
			work: not for a revision, a size, or the time of a backup.

			Exit codes: 0 healthy (or asked for with 0 members), 3 not healthy, 1 error.`),
		Example: ui.Examples(`
			# The only cluster of this namespace
			kubectl etcd status

			# One that is named by any of its objects
			kubectl etcd status etcd-main -n team-a
			kubectl etcd status pod/etcd-main-0 -n team-a

			# The one that belongs to something, wherever it is
			kubectl etcd status -A -l cluster=payments

			# Follow a rollout
			kubectl etcd status etcd-main -n team-a --watch

			# Who leads
			kubectl etcd status etcd-main -n team-a -o jsonpath='{.leader}{"\n"}'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, cmd, strings.Join(args, ""), o)
		},
	}
	flags := cmd.Flags()
	o.scope.AddFlags(cmd, "Show the only cluster")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Look again and again until interrupted")
	flags.DurationVar(&o.interval, "interval", 2*time.Second, "How long to wait between two looks of --watch")
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
	st := health.StatusOf(seen)
	if err := printStatus(a, cmd, st); err != nil {
		return err
	}
	return healthError(st)
}

// NewObserver returns an observer of the cluster that the target or the scope names.
func newObserver(ctx context.Context, a *app.App, target string, s app.Scope) (*health.Observer, error) {
	if err := s.RejectTarget(target); err != nil {
		return nil, err
	}
	t, err := observe.ParseTarget(target)
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	namespace, err := a.Namespace()
	if err != nil {
		return nil, err
	}
	if s != (app.Scope{}) {
		owner, err := s.Single(ctx, a)
		if err != nil {
			return nil, err
		}
		namespace, t = owner.Namespace, owner.Target()
	}
	to, err := a.Access()
	if err != nil {
		return nil, err
	}
	return health.NewObserver(reader, to, namespace, t, a.Clock), nil
}

func printStatus(a *app.App, cmd *cobra.Command, st *v1alpha1.EtcdClusterStatus) error {
	return a.Print(cmd, st, func(w io.Writer, wide bool) error {
		c := a.Screen(w)
		if err := render(a, c, st, wide); err != nil {
			return err
		}
		_, err := w.Write(c.Bytes())
		return err
	})
}

// healthError ends the command with exit code 3 for a cluster that isn't healthy.
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
		return app.Unhealthy("how %s in namespace %s is can't be told%s", st.Cluster.Target, st.Cluster.Namespace, first)
	}
	return app.Unhealthy("%s in namespace %s is %s%s", st.Cluster.Target, st.Cluster.Namespace, strings.ToLower(st.Health), first)
}
