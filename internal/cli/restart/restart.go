// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restart implements kubectl etcd restart.
package restart

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
)

// options are the flags of restart.
type options struct {
	change.Flags

	// member is the pod of the only member to restart.
	member string
	// strategy is how the members are restarted, empty for Rolling or that of an unfinished restart.
	strategy restart.Strategy
	// withoutCut is true if a coordinated restart does not cut client traffic.
	withoutCut bool
	// abort ends an unfinished restart.
	abort bool
}

// NewCommand returns the command restart.
func NewCommand(a *app.App) *cobra.Command {
	o := options{Flags: change.Flags{Timeout: 30 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "restart TARGET",
		Short: "Restart members safely, one at a time or all at once",
		Long: ui.Paragraphs(`
			Restart the members of a cluster, one member at a time: members that are not healthy, then
			learners, then followers from the highest ordinal. The leader transfers its leadership and is
			the last.

			A member restarts by the eviction of its pod, so disruption budgets apply. Before each member,
			the command checks that all other members are healthy, that they have a quorum without it, that
			backups don't fail, and that no scale or rollout is in progress. The next member follows when the
			new pod is Ready, and its member follows the leader and has caught up.

			The command refuses a member whose data would be lost with its pod, and a pod whose ConfigMaps
			or Secrets don't exist. It refuses to stop a member without which the others have no quorum, so
			it restarts no cluster of two. It never deletes a pod or a volume, and doesn't change the pod template
			or etcd's member list. If the StatefulSet has a newer template, new pods get it. It restarts no pods
			without a StatefulSet, such as static pods.

			With --strategy coordinated, all members stop before any starts. Use it for changes that members
			can't survive one by one, such as enabling or disabling TLS between the members, or another CA for
			it. The command cuts client traffic, sets the replicas to 0 and back, and restores the traffic when
			every member is healthy and has the same IDs as before. etcd answers no requests meanwhile. The
			volumes stay. If the pod template changes the scheme or port of peer URLs, the command also updates
			them in etcd's member list: half of the members before all stop, the others after the start. Set the
			update strategy of the StatefulSet to OnDelete before you change the template, so that no member
			restarts alone. The cluster needs no quorum for it, but every member needs a pod and its data. The
			command refuses this for members that an operator or a start script manages. It doesn't stop Helm,
			GitOps or autoscalers: keep them away from the replicas until it has ended.

			After an interruption, run the same command again to continue, with --strategy coordinated if you
			used it. --abort ends an unfinished restart: a member that has stopped comes back, and no other one
			stops. It also restores client traffic, and does not wait until the members are healthy.`),
		Example: ui.Examples(`
			# Restart all members, one at a time
			kubectl etcd restart etcd-main

			# Restart only the member of one pod
			kubectl etcd restart etcd-main --member etcd-main-1 --reason "stuck after a node upgrade"

			# Stop all members before any starts, after the CA for TLS between them was replaced
			kubectl etcd restart etcd-main --strategy coordinated

			# Restart no further member
			kubectl etcd restart etcd-main --abort`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return run(cmd.Context(), a, args[0], o)
		},
	}
	o.addTo(cmd)
	return cmd
}

// addTo adds the flags to the command.
func (o *options) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.member, "member", "", "Pod of the only member to restart. The default is all members")
	flags.BoolVar(&o.abort, "abort", false, "End the whole unfinished restart. All other flags are ignored. Members that have not been stopped stay as they are")
	ui.AddEnum(cmd, flags, &o.strategy, "strategy", "strategy", "How to restart the members: rolling (default), one at a time; or coordinated, which stops all before any starts",
		restart.Rolling, restart.Coordinated)
	flags.BoolVar(&o.withoutCut, "without-cut", false, "Don't cut client traffic in a coordinated restart. For a cluster without a client Service that can be cut")
	change.AddFlags(cmd, &o.Flags)
}

// validate checks combinations of flags.
func (o *options) validate() error {
	switch {
	case o.member != "" && o.strategy == restart.Coordinated:
		return fmt.Errorf("--strategy %s restarts all members: leave out --member", o.strategy)
	case o.withoutCut && o.strategy != restart.Coordinated:
		return fmt.Errorf("--without-cut is for --strategy %s: no other restart cuts client traffic", restart.Coordinated)
	}
	return nil
}

func run(ctx context.Context, a *app.App, target string, o options) error {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	job, err := newJob(a, c, target, o)
	if err != nil {
		return err
	}
	defer job.Close()
	t := &task{app: a, cluster: c, job: job, options: o}
	return change.Do(ctx, a, c, o.Flags, t.operation())
}

func newJob(a *app.App, c *app.Cluster, target string, o options) (*restart.Job, error) {
	j, err := change.Restarts(a, c)
	if err != nil {
		return nil, err
	}
	j.Traffic, j.WithoutCut, j.PlanOnly, j.Abort = change.Traffic(a, c, target, o.Flags), o.withoutCut, o.DryRun == change.DryRunClient, o.abort
	return j, nil
}
