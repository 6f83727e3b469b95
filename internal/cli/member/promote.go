// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func newMemberPromoteCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 5 * time.Minute}
	cmd := &cobra.Command{
		Use:   "promote TARGET MEMBER",
		Short: "Give a learner its vote once it has caught up",
		Long: ui.Paragraphs(`
			Give a learner its vote. MEMBER is its ID in hexadecimal, its name or its pod.

			It waits until the learner was within 1,000 entries of its leader at three reads in a row;
			etcd's own check would let an empty learner of an old cluster pass.`),
		Example: ui.Examples(`
			# A learner that was added by hand, by its ID
			kubectl etcd member promote statefulset/main 8e9e05c52164694d

			# By its name, and without a question
			kubectl etcd member promote statefulset/main main-3 -y`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberPromote(cmd.Context(), e, args[0], args[1], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func memberPromote(ctx context.Context, e *app.App, target, word string, ch change.Flags) error {
	c, err := e.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := unmanaged(c, "promote a member of"); err != nil {
		return err
	}
	if err := change.Idle(ctx, e, c); err != nil {
		return err
	}
	s, err := operate.Listed(ctx, c.Members, "promote "+word)
	if err != nil {
		return err
	}
	l, err := operate.FindMember(s, word)
	if err != nil {
		return err
	}
	if !l.Learner {
		fmt.Fprintf(e.ErrOut, "Member %s votes already.\n", operate.Name(l))
		return nil
	}
	if l.Pod == "" {
		return app.Refused("cannot promote %s: it runs in no pod of the cluster, so nobody here sees whether it has caught up; if you do, kubectl etcd proxy %s -n %s -- etcdctl member promote %016x; else kubectl etcd member remove %s %016x -n %s",
			operate.Name(l), c.Target(), c.Namespace, l.ID, c.Target(), l.ID, c.Namespace)
	}
	voters := len(s.List) - 1
	return changeList(ctx, e, c, memberTask{
		Flags: ch, verb: "member promote", event: "MemberPromoted", what: "promoted member " + operate.Name(l),
		plan: operate.Plan{
			Title: "promote member " + operate.Name(l),
			Facts: []string{fmt.Sprintf("%d voters, quorum is %d; with its vote it is %d of %d", voters, policy.Quorum(voters), policy.Quorum(voters+1), voters+1)},
			Steps: []string{fmt.Sprintf("wait until it is within %d entries of the leader", policy.LagLimit), "promote it"},
		},
		act: func(ctx context.Context, members *etcd.Cluster, held func() error) error {
			if err := awaitCaughtUp(ctx, e, members, l); err != nil {
				return err
			}
			return operate.PromoteMember(ctx, members, l, held)
		},
	})
}

// awaitCaughtUp waits until a learner was close to its leader at each of three
// reads, one a second.
func awaitCaughtUp(ctx context.Context, e *app.App, members *etcd.Cluster, l etcd.Listed) error {
	for near := 0; near < policy.CatchUpReads; {
		s, err := operate.Listed(ctx, members, "promote "+operate.Name(l))
		if err != nil {
			return err
		}
		behind, known := operate.Behind(s, l)
		near++
		if !known || behind > policy.LagLimit {
			near = 0
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is %d entries behind its leader: %w", operate.Name(l), behind, context.Cause(ctx))
		case <-e.Clock.After(time.Second):
		}
	}
	return nil
}
