// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
)

func newMemberListCmd(e *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list [TARGET]",
		Aliases: []string{"ls"},
		Short:   "List the members of an etcd cluster",
		Long: ui.Paragraphs(`
			List etcd's own member list, each member with its pod. The output also has members without a
			pod, and pods that are not members. The command also reads the list of each single member. If
			one differs from the list that a quorum agrees on, the output shows the difference.

			Without a quorum, the command shows the list of the most advanced member, and a message.

			Exit codes: 0 all members agree and have a pod; 3 there is no quorum, the members disagree,
			a member has no pod, or a pod is not a member; 1 error.`),
		Example: ui.Examples(`
			# List the members of one cluster
			kubectl etcd member list etcd-main -n team-a

			# Print the IDs of learners
			kubectl etcd member list etcd-main -n team-a -o json | jq -r '.items[] | select(.role == "Learner") | .id'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberList(cmd.Context(), e, cmd, strings.Join(args, ""))
		},
	}
	ui.AddOutputFlags(cmd)
	return cmd
}

func memberList(ctx context.Context, e *app.App, cmd *cobra.Command, target string) error {
	c, err := e.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing was written
	pods, err := c.Reader.MemberPods(ctx, c.Owner)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return fmt.Errorf("%s has no pods, so no member can answer. kubectl etcd status %s -n %s shows more", c.Owner, c.Target(), c.Namespace)
	}
	survey, err := c.Members.Survey(ctx)
	split, several := errors.AsType[*etcd.SplitBrainError](err)
	if err != nil && !several { // the output shows members of several clusters
		return err
	}
	own, err := c.Members.OwnLists(ctx, survey.Members)
	if err != nil {
		return err
	}
	out := view.MemberList(health.IdentityOf(c.Owner), survey, own, podNames(pods))
	if err := e.Print(cmd, out, render.Members(e.Console, out)); err != nil {
		return err
	}
	if several {
		return app.Unhealthy("%s in namespace %s: %v", c.Target(), c.Namespace, split)
	}
	if problem := view.MemberListProblem(out); problem != "" {
		return app.Unhealthy("%s", problem)
	}
	return nil
}

func podNames(pods []*corev1.Pod) []string {
	names := make([]string, 0, len(pods))
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}
