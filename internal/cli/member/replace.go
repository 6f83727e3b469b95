// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

type replaceOptions struct {
	change.Flags

	// force replaces a member that is healthy, or whose data seems to be there.
	force bool
	// abort undoes a replacement that was begun.
	abort bool
}

func newMemberReplaceCmd(e *app.App) *cobra.Command {
	o := replaceOptions{Flags: change.Flags{Timeout: 10 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "replace [TARGET] POD",
		Short: "Give a pod whose member has lost its data a new, empty one",
		Long: ui.Paragraphs(`
			Replace the member of a pod by a new one with empty volumes, which gets its data from the
			others. It is for a member whose data is lost or broken; one that only crashed rejoins by
			itself, and is refused here, as is a healthy one, unless --force is given.

			The old member leaves etcd first, and only while the others have a quorum without it. The
			new one joins as a learner and votes once it has caught up; nobody else restarts. With
			etcd-druid the volume and the pod are deleted, and its sidecar does the rest.

			TARGET is only needed while the pod is not there.

			Run the same command again to go on after an interruption, or with --abort to take the
			learner back. That also happens when --timeout has passed.`),
		Example: ui.Examples(`
			# The volume of main-1 is gone with its node
			kubectl etcd member replace main-1

			# Its pod is gone, too
			kubectl etcd member replace statefulset/main main-1

			# Take back what an interrupted replacement has begun
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
	flags.BoolVar(&o.force, "force", false, "Replace a member that is healthy, or whose data seems to be there")
	flags.BoolVar(&o.abort, "abort", false, "Take back a replacement that was begun")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

func memberReplace(ctx context.Context, e *app.App, target, pod string, o replaceOptions) error {
	c, err := e.Owner(ctx, target)
	if err != nil {
		return err
	}
	m := c.Membership()
	switch {
	case c.Flavour == observe.Druid:
		return replaceDruid(ctx, e, c, pod, o)
	case m.Manager != flavour.Unmanaged || c.ReadOnly():
		return app.Refused("cannot replace %s of %s: %s manages the members; %s", pod, c.Owner, m.ManagerName, m.ReplaceHow)
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
	j, err := membership.ReadChange(ctx, c.Kube, c.Owner)
	if err != nil {
		return err
	}
	t := &change.MembersTask{
		Members: m, Planned: j, Undo: o.abort, Verb: "member replace", Event: reasons.MemberReplaced, Undone: reasons.MemberReplacedUndone,
		What: "replaced the member of " + pod,
	}
	switch {
	case j == nil && o.abort:
		fmt.Fprintf(e.ErrOut, "No change of the members of %s is under way: there is nothing to abort.\n", c.Owner)
		return nil
	case j == nil:
		t.Again = func(ctx context.Context) (*membership.Change, operate.Plan, error) {
			return m.PlanReplace(ctx, pod, o.force)
		}
		if t.Planned, t.Plan, err = t.Again(ctx); err != nil {
			return err
		}
		t.Fresh = true
	case j.Operation != rules.Replace || m.Owner.PodName(j.Ordinal) != pod:
		return change.Unfinished(ctx, e, c)
	default:
		if t.Plan, err = m.PlanResume(ctx, j, o.abort); err != nil {
			return err
		}
	}
	return change.Do(ctx, e, c, o.Flags, t.Operation(e, c))
}
