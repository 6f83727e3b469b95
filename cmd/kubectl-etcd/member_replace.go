// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

type replaceOptions struct {
	change

	// force replaces a member that is healthy, or whose data seems to be there.
	force bool
	// abort undoes a replacement that was begun.
	abort bool
}

func newMemberReplaceCmd(e *env) *cobra.Command {
	o := replaceOptions{change: change{timeout: 10 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "replace [TARGET] POD",
		Short: "Give a pod whose member has lost its data a new, empty one",
		Long: paragraphs(`
			Replace the member of a pod by a new one with empty volumes, which gets its data from the
			others. It is for a member whose data is lost or broken; one that only crashed rejoins by
			itself, and is refused here, as is a healthy one, unless --force is given.

			The old member leaves etcd first, and only while the others have a quorum without it. The
			new one joins as a learner and votes once it has caught up; nobody else restarts. With
			etcd-druid the volume and the pod are deleted, and its sidecar does the rest.

			TARGET is only needed while the pod is not there.

			Run the same command again to go on after an interruption, or with --abort to take the
			learner back. That also happens when --timeout has passed.`),
		Example: examples(`
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
	addChangeFlags(cmd, &o.change)
	return cmd
}

func memberReplace(ctx context.Context, e *env, target, pod string, o replaceOptions) error {
	c, err := e.owner(ctx, target)
	if err != nil {
		return err
	}
	m := c.Membership()
	switch {
	case c.Flavour == observe.Druid:
		return replaceDruid(ctx, e, c, pod, o)
	case m.Manager != observe.ByNobody || c.ReadOnly():
		return refused("cannot replace %s of %s: %s manages the members; %s", pod, c.Owner, m.Who, m.Replace)
	}
	return replaceStatefulSet(ctx, e, c, pod, o)
}

func replaceStatefulSet(ctx context.Context, e *env, c *cluster, pod string, o replaceOptions) error {
	m, err := e.members(c)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Logs, err = e.logs(c.Namespace); err != nil {
		return err
	}
	j, err := operate.ReadJournal(ctx, c.kube, c.Owner)
	if err != nil {
		return err
	}
	t := membersTask{
		members: m, journal: j, undo: o.abort, verb: "member replace", event: "MemberReplaced", undone: "MemberReplacedUndone",
		what: "replaced the member of " + pod, change: o.change,
	}
	switch {
	case j == nil && o.abort:
		fmt.Fprintf(e.ErrOut, "No change of the members of %s is under way: there is nothing to abort.\n", c.Owner)
		return nil
	case j == nil:
		t.again = func(ctx context.Context) (*operate.Journal, operate.Plan, error) {
			return m.PlanReplace(ctx, pod, o.force)
		}
		if t.journal, t.plan, err = t.again(ctx); err != nil {
			return err
		}
		t.fresh = true
	case j.Operation != policy.Replace || m.Owner.PodName(j.Place) != pod:
		return e.idle(ctx, c)
	default:
		if t.plan, err = m.PlanResume(ctx, j, o.abort); err != nil {
			return err
		}
	}
	return e.changeMembers(ctx, c, t)
}

// logs reads the end of containers' logs.
func (e *env) logs(namespace string) (operate.Logs, error) {
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	pods, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pod, container string, previous bool) (string, error) {
		text, err := pods.Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
			Container: container, Previous: previous, TailLines: new(int64(60)), LimitBytes: new(int64(256 << 10)),
		}).DoRaw(ctx)
		return string(text), err
	}, nil
}
