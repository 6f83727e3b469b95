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
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
)

type options struct {
	change.Flags

	// member is the pod of the only member to restart.
	member string
	// abort ends an unfinished restart.
	abort bool
}

// NewCommand returns the command restart.
func NewCommand(a *app.App) *cobra.Command {
	o := options{Flags: change.Flags{Timeout: 30 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "restart TARGET",
		Short: "Restart members safely, one at a time",
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
			it restarts no cluster of two. It never deletes a pod. It never stops all members at once, so it
			can't make a change for which all members must restart together, such as TLS between the
			members. It doesn't change the pod template. If the StatefulSet has a newer template, new pods
			get it. It restarts no pods without a StatefulSet, such as static pods.

			After an interruption, run the same command again to continue. --abort ends an unfinished restart:
			a member that has stopped comes back, and no other one stops.`),
		Example: ui.Examples(`
			# Restart all members, one at a time
			kubectl etcd restart etcd-main

			# Restart only the member of one pod
			kubectl etcd restart etcd-main --member etcd-main-1 --reason "stuck after a node upgrade"

			# Restart no further member
			kubectl etcd restart etcd-main --abort`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.abort && o.member != "" {
				return fmt.Errorf("--abort ends the whole restart: leave out --member")
			}
			return run(cmd.Context(), a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.member, "member", "", "Pod of the only member to restart. The default is all members")
	flags.BoolVar(&o.abort, "abort", false, "End an unfinished restart. Members that have not been stopped stay as they are")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

func run(ctx context.Context, a *app.App, target string, o options) error {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	job, err := newJob(a, c)
	if err != nil {
		return err
	}
	defer job.Close()
	t := &task{app: a, cluster: c, job: job, options: o}
	return change.Do(ctx, a, c, o.Flags, t.operation())
}

func newJob(a *app.App, c *app.Cluster) (*restart.Job, error) {
	credentials, err := a.Credentials.Read(a)
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return &restart.Job{
		Kube: c.Kube, Reader: c.Reader, Owner: c.Owner, Tunnel: tunnel.New(config), Credentials: credentials, Clock: a.Clock,
		Logf: func(format string, args ...any) { change.PrintStep(a, format, args...) },
	}, nil
}
