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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
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
	var l etcd.Listed
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "member promote", Needs: memberlist.Needs(c.Owner),
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			l, plan, err = memberlist.PlanPromote(ctx, c.Members, c.Owner, member)
			return plan, err
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := memberlist.AwaitCaughtUp(ctx, c.Members, c.Owner, l, a.Clock); err != nil {
				return err
			}
			if err := memberlist.PromoteMember(ctx, c.Members, c.Owner, l, run.Held); err != nil {
				return err
			}
			done := "promoted member " + l.NameAndID()
			run.Done(ctx, reasons.MemberPromoted, done, fmt.Sprintf("%s: %s", c.Target(), done))
			return nil
		},
	})
}
