// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// replaceOptions are the flags of member replace.
type replaceOptions struct {
	change.Flags

	// force allows to replace a healthy member, or one whose data seems to exist.
	force bool
	// abort undoes an unfinished replacement.
	abort bool
}

func newMemberReplaceCmd(e *app.App) *cobra.Command {
	o := replaceOptions{Flags: change.Flags{Timeout: 10 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "replace [TARGET] POD",
		Short: "Replace a member that has lost its data",
		Long: ui.Paragraphs(`
			Replace the member of a pod with a new member. The new member starts with empty volumes and
			gets its data from the others. Use this command if the data of a member is lost or broken. The
			command refuses a healthy member, and a member that only crashed and will rejoin. Use --force
			to replace such a member.

			The command removes the old member from etcd first, if the others have a quorum without it.
			The new member joins as a learner, and becomes a voter when it has caught up. No other pod
			restarts. For an Etcd, the command deletes the volume claim and the pod, and etcd-druid's
			sidecar does the other steps.

			TARGET is only required if the pod does not exist.

			After an interruption, run the same command again to continue, or use --abort to remove the
			learner. When --timeout has passed, the command removes the learner itself. For an Etcd,
			--abort is not possible.`),
		Example: ui.Examples(`
			# Replace the member of main-1, whose volume is lost
			kubectl etcd member replace main-1

			# Replace the member of a pod that does not exist
			kubectl etcd member replace statefulset/main main-1

			# Undo an interrupted replacement
			kubectl etcd member replace main-1 --abort`),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			pod := strings.TrimPrefix(args[len(args)-1], "pod/")
			target := "pod/" + pod
			if len(args) == 2 {
				target = args[0]
			}
			return memberReplace(cmd.Context(), e, target, pod, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.force, "force", false, "Replace a member even if it is healthy or its data seems to exist")
	flags.BoolVar(&o.abort, "abort", false, "Undo an unfinished replacement")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

func memberReplace(ctx context.Context, e *app.App, target, pod string, o replaceOptions) error {
	c, err := e.Owner(ctx, target)
	if err != nil {
		return err
	}
	kept, err := change.ReadJournal(ctx, c)
	if err != nil {
		return err
	}
	if c.Membership().ByPlugin && !kept.OfMembers() {
		return replaceDruid(ctx, e, c, pod, o)
	}
	return replaceStatefulSet(ctx, e, c, pod, o)
}

func replaceStatefulSet(ctx context.Context, e *app.App, c *app.Cluster, pod string, o replaceOptions) error {
	m, err := change.Members(e, c)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Logs, err = e.Logs(c.Namespace); err != nil {
		return err
	}
	t := &change.MembersTask{
		Members: m, Undo: o.abort, Verb: "member replace", Event: reasons.MemberReplaced, Undone: reasons.MemberReplacedUndone,
		What: "replaced the member of " + pod,
		Plan: func(ctx context.Context) (*membership.Change, operate.Plan, error) {
			return m.PlanReplace(ctx, pod, o.force)
		},
		Continues: func(ctx context.Context, j *membership.Change) error {
			if j.Operation != rules.Replace || c.PodName(j.Ordinal) != pod {
				return change.Unfinished(ctx, e, c)
			}
			return nil
		},
	}
	return change.Do(ctx, e, c, o.Flags, t.Operation(e, c))
}
