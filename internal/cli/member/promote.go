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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

func newMemberPromoteCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 5 * time.Minute}
	cmd := &cobra.Command{
		Use:   "promote TARGET MEMBER",
		Short: "Promote a learner to a voter when it has caught up",
		Long: ui.Paragraphs(`
			Promote a learner to a voter. MEMBER is its hexadecimal ID, its name or its pod.

			The command waits until the learner is at most 1,000 entries behind the leader in three
			consecutive checks. etcd's own check also accepts an empty learner of an old cluster.`),
		Example: ui.Examples(`
			# Promote a learner by its ID
			kubectl etcd member promote statefulset/main 8e9e05c52164694d

			# Promote a learner by its name, without a question
			kubectl etcd member promote statefulset/main main-3 -y`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberPromote(cmd.Context(), e, args[0], args[1], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func memberPromote(ctx context.Context, a *app.App, target, member string, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := unmanaged(c, "promote a member of"); err != nil {
		return err
	}
	var l etcd.Listed
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "member promote", Needs: memberNeeds(c),
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			l, plan, err = promotePlan(ctx, c, member)
			return plan, err
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := awaitCaughtUp(ctx, a, c.Members, l); err != nil {
				return err
			}
			if err := membership.PromoteMember(ctx, c.Members, l, run.Held); err != nil {
				return err
			}
			done := "promoted member " + l.NameAndID()
			run.Done(ctx, reasons.MemberPromoted, done, fmt.Sprintf("%s: %s", c.Target(), done))
			return nil
		},
	})
}

// promotePlan returns the learner and the plan to promote it. The plan is empty if the member
// is already a voter.
func promotePlan(ctx context.Context, c *app.Cluster, member string) (etcd.Listed, operate.Plan, error) {
	s, err := membership.SurveyQuorum(ctx, c.Members, "promote "+member)
	if err != nil {
		return etcd.Listed{}, operate.Plan{}, err
	}
	l, err := membership.FindMember(s, member)
	switch {
	case err != nil:
		return l, operate.Plan{}, err
	case !l.Learner:
		return l, operate.Plan{Already: fmt.Sprintf("Member %s is already a voter.", l.NameAndID())}, nil
	case l.Pod == "":
		return l, operate.Plan{}, app.Refused("cannot promote %s: it runs in no pod of the cluster, so the plugin can't see whether it has caught up. If it has, run kubectl etcd proxy %s -n %s -- etcdctl member promote %016x. Otherwise, run kubectl etcd member remove %s %016x -n %s",
			l.NameAndID(), c.Target(), c.Namespace, l.ID, c.Target(), l.ID, c.Namespace)
	}
	voters := len(s.List) - 1
	return l, operate.Plan{
		Title: "promote member " + l.NameAndID(),
		Facts: []string{fmt.Sprintf("%d voters, quorum is %d. With the vote of the learner, it is %d of %d", voters, policy.Quorum(voters), policy.Quorum(voters+1), voters+1)},
		Steps: []string{fmt.Sprintf("wait until it is at most %d entries behind the leader", policy.LagLimit), "promote it"},
	}, nil
}

func awaitCaughtUp(ctx context.Context, e *app.App, members *etcd.Cluster, l etcd.Listed) error {
	for near := 0; near < rules.CatchUpReads; {
		s, err := membership.SurveyQuorum(ctx, members, "promote "+l.NameAndID())
		if err != nil {
			return err
		}
		behind, known := membership.Behind(s, l)
		near++
		if !known || behind > policy.LagLimit {
			near = 0
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is %d entries behind its leader: %w", l.NameAndID(), behind, context.Cause(ctx))
		case <-e.Clock.After(time.Second):
		}
	}
	return nil
}
