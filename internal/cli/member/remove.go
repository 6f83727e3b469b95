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

func newMemberRemoveCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: time.Minute}
	force, lost := false, false
	cmd := &cobra.Command{
		Use:   "remove TARGET MEMBER",
		Short: "Remove a dead member from etcd's member list",
		Long: ui.Paragraphs(`
			Remove a learner or a dead voter from etcd's member list. MEMBER is its hexadecimal ID, its
			name or its pod.

			The other voters must have a healthy quorum. The command refuses to remove a voter that is
			healthy or in contact with the leader. The pod of a voter that does not answer may exist, or
			come back when its workload is scaled up. Such a voter is removed only with --force, because
			its pod can't rejoin with its data afterwards. It may not be known where a voter ran, for
			example because its address is outside of this Kubernetes cluster. Such a voter is removed
			only with --lost, after you have made sure that it can't come back. The leader must have
			no connection with it.

			Use kubectl etcd scale or kubectl etcd member replace instead, which also handle the pod and
			the volume of a member. If an operator or a start script manages the members, the command
			only removes a member that has no pod and will not get one.`),
		Example: ui.Examples(`
			# Remove a member by its ID
			kubectl etcd member remove etcd/main 8e9e05c52164694d

			# Check whether a member can be removed, and change nothing
			kubectl etcd member remove statefulset/main main-3 --dry-run=client`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberRemove(cmd.Context(), e, args[0], args[1], memberlist.Removal{Force: force, Lost: lost}, ch)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "Remove a voter that doesn't answer although its pod exists, or comes back when its workload is scaled up")
	cmd.Flags().BoolVar(&lost, "lost", false, "Declare that a voter can't come back, if it is not known where it ran")
	change.AddFlags(cmd, &ch)
	return cmd
}

func memberRemove(ctx context.Context, a *app.App, target, member string, r memberlist.Removal, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	r.Reader, r.Clock = c.Reader, a.Clock
	r.Idle = func(ctx context.Context, l etcd.Listed, members int) error {
		return change.UnfinishedFor(ctx, a, c, l, members)
	}
	var l etcd.Listed
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "member remove", Needs: append(change.ReadsJournal(c), memberlist.Needs(c.Owner)...),
		AllowsUnfinished: true, // for a member at which a change stops. Idle refuses all others
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			r.Owner, r.Members = c.Owner, c.Members
			if l, plan, err = r.Plan(ctx, member); err == nil {
				member = etcd.HexID(l.ID) // later judgements are about the same member
			}
			return plan, err
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := r.Remove(ctx, l, run.Held); err != nil {
				return err
			}
			done := "removed member " + l.NameAndID()
			run.Done(ctx, reasons.MemberRemoved, done, fmt.Sprintf("%s: %s", c.Target(), done))
			return nil
		},
		Next: func(error) string { return listShows(c, "whether it was removed") },
	})
}
