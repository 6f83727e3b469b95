// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

func newMemberListCmd(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list [TARGET]",
		Aliases: []string{"ls"},
		Short:   "List the members of an etcd cluster",
		Long: paragraphs(`
			List the entries of etcd's own member list, each with its pod: members that no pod runs
			are shown, and pods that are no members. Every member is asked for its own list, too;
			where one differs from what a quorum agrees on, that is said.

			Without a quorum the list of the member that knows most is shown, and marked so. The exit
			code is 3 when there is no quorum, the members disagree, or a member has no pod.`),
		Example: examples(`
			# Who the members are
			kubectl etcd member list etcd-main -n team-a

			# IDs of learners
			kubectl etcd member list etcd-main -n team-a -o json | jq -r '.items[] | select(.role == "Learner") | .id'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberList(cmd.Context(), e, cmd, strings.Join(args, ""))
		},
	}
	addOutputFlags(cmd)
	return cmd
}

func memberList(ctx context.Context, e *env, cmd *cobra.Command, target string) error {
	c, err := e.cluster(ctx, target)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing was written
	pods, err := c.reader.MemberPods(ctx, c.Owner)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return fmt.Errorf("%s has no pods, so there is no member to ask; kubectl etcd status %s -n %s shows more", c.Owner, c.Target(), c.Namespace)
	}
	roll, err := callRoll(ctx, c.members)
	if err != nil {
		return err
	}
	out := rollList(identityOf(c.Owner), roll, podNames(pods))
	if err := e.print(cmd, out, func(w io.Writer, wide bool) error { return writeMembers(e, w, out, wide) }); err != nil {
		return err
	}
	if roll.split != nil {
		return unhealthy("%s in namespace %s: %v", c.Target(), c.Namespace, roll.split)
	}
	return rollVerdict(out)
}

// rollVerdict ends the command with exit code 3 where something is wrong.
func rollVerdict(l *v1alpha1.EtcdMemberList) error {
	name := l.Cluster.Target + " in namespace " + l.Cluster.Namespace
	switch {
	case l.Authority == "":
		return unhealthy("%s: no member told its member list", name)
	case l.Authority == v1alpha1.AuthorityMember:
		return unhealthy("%s has no quorum: this is what single members know", name)
	case len(l.Disagreements) > 0:
		return unhealthy("the members of %s disagree on who they are", name)
	}
	for i := range l.Items {
		if m := &l.Items[i]; m.Pod == "" || m.ID == "" {
			return unhealthy("%s: %s: %s", name, cmp.Or(m.Pod, m.Name, m.ID), m.Note)
		}
	}
	return nil
}

func writeMembers(e *env, w io.Writer, l *v1alpha1.EtcdMemberList, wide bool) error {
	t := table{columns: []column{
		{name: "MEMBER", shrink: 11}, {name: "ID"}, {name: "NAME", shrink: 8}, {name: "ROLE"}, {name: "STARTED"},
		{name: "PEER URLS", shrink: 9}, {name: "CLIENT URLS", wide: true}, {name: "NOTE", shrink: 10},
	}}
	noted := false
	for i := range l.Items {
		m := &l.Items[i]
		paint := noColor
		if m.Note != "" {
			paint, noted = yellow, true
		}
		t.rows = append(t.rows, []cell{
			{text: m.Pod}, {text: m.ID}, {text: m.Name}, {text: strings.ToLower(m.Role)}, {text: startedText(m)},
			{text: strings.Join(m.PeerURLs, ",")}, {text: strings.Join(m.ClientURLs, ",")}, {m.Note, paint},
		})
	}
	if !noted {
		t.columns = t.columns[:len(t.columns)-1]
	}
	if err := t.write(e.console, w, wide); err != nil {
		return err
	}
	for _, d := range l.Disagreements {
		e.warn("%s disagrees: %s.", d.Pod, d.Message)
	}
	for _, u := range l.Unseen {
		e.warn("%s did not answer: %s.", u.What, strings.TrimPrefix(u.Why, "no answer "))
	}
	return nil
}

func startedText(m *v1alpha1.EtcdMember) string {
	if m.ID == "" {
		return ""
	}
	return strconv.FormatBool(m.Started)
}
