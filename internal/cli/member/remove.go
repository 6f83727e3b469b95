// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

func newMemberRemoveCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: time.Minute}
	force := false
	cmd := &cobra.Command{
		Use:   "remove TARGET MEMBER",
		Short: "Remove a dead member from etcd's member list",
		Long: ui.Paragraphs(`
			Remove a learner or a dead voter from etcd's member list. MEMBER is its hexadecimal ID, its
			name or its pod.

			The other voters must have a healthy quorum. The command refuses to remove a voter that is
			healthy or in contact with the leader. It removes a voter that does not answer, and whose
			pod exists, only with --force, because that pod can't rejoin with its data afterwards.
			Use kubectl etcd scale or kubectl etcd member replace instead, which also handle its pod and
			volume. If an operator or a start script manages the members, the command only removes a
			member that has no pod and will not get one.`),
		Example: ui.Examples(`
			# Remove a member by its ID
			kubectl etcd member remove etcd/main 8e9e05c52164694d

			# Check whether a member can be removed, and change nothing
			kubectl etcd member remove statefulset/main main-3 --dry-run=client`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberRemove(cmd.Context(), e, args[0], args[1], force, ch)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "Remove a voter that doesn't answer although its pod exists")
	change.AddFlags(cmd, &ch)
	return cmd
}

func memberRemove(ctx context.Context, a *app.App, target, member string, force bool, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	r := &removal{app: a, cluster: c, member: member, force: force}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "member remove", Needs: memberNeeds(c), Judge: r.judge, Act: r.act,
		Next: func(error) string { return listShows(c, "whether it was removed") },
	})
}

// removal is the removal of a member. The first judgement finds the member, and later ones use
// its ID.
type removal struct {
	app     *app.App
	cluster *app.Cluster
	member  string
	force   bool
	listed  etcd.Listed
}

func (r *removal) judge(ctx context.Context) (operate.Plan, error) {
	s, err := membership.SurveyQuorum(ctx, r.cluster.Members, "remove "+r.member)
	if err != nil {
		return operate.Plan{}, err
	}
	if r.listed, err = membership.FindMember(s, r.member); err != nil {
		return operate.Plan{}, err
	}
	r.member = fmt.Sprintf("%016x", r.listed.ID)
	return removePlan(ctx, r.how(), r.cluster, s, r.listed)
}

func (r *removal) how() membership.Removal {
	c := r.cluster
	return membership.Removal{Reader: c.Reader, Owner: c.Owner, Members: c.Members, Clock: r.app.Clock, Force: r.force}
}

func (r *removal) act(ctx context.Context, run *change.Run) error {
	if err := r.how().Remove(ctx, r.listed, run.Held); err != nil {
		return err
	}
	done := "removed member " + r.listed.NameAndID()
	run.Done(ctx, reasons.MemberRemoved, done, fmt.Sprintf("%s: %s", r.cluster.Target(), done))
	return nil
}

func removePlan(ctx context.Context, how membership.Removal, c *app.Cluster, s etcd.Survey, l etcd.Listed) (operate.Plan, error) {
	what := "remove " + l.NameAndID()
	peers := membership.Peers(c.Owner, s)
	p := peers[slices.IndexFunc(peers, func(p rules.Peer) bool { return p.ID == l.ID })]
	if why := useInstead(c, l, p.Healthy); why != "" {
		return operate.Plan{}, app.Refused("cannot %s: %s", what, why)
	}
	v := how.MayRemove(ctx, s, l)
	if err := context.Cause(ctx); err != nil {
		return operate.Plan{}, err
	}
	if v.Reason == rules.VoterHasPod {
		pod := cmp.Or(l.Pod, l.DuePod(c.Owner))
		return operate.Plan{}, app.Refused("cannot %s: %s. To see why it does not answer: kubectl describe pod %s -n %s. If its data is lost: %s. To remove it for good, run the same command with --force",
			what, v.Message, pod, c.Namespace, howToReplace(c, pod))
	}
	if v.Reason == rules.VoterElsewhere { // the rule allows its removal apart from that
		return operate.Plan{}, app.Refused("cannot %s: %s. To remove it for good, stop its etcd first (the pod, or the workload that runs it), and run the same command again", what, v.Message)
	}
	if !v.Allowed {
		return operate.Plan{}, app.Refused("cannot %s: %s", what, v.Message)
	}
	plan := operate.Plan{
		Title: what + " from etcd",
		Facts: []string{"peer URL " + p.URL, v.Message}, Steps: []string{"remove it from etcd's member list"},
	}
	cluster, err := c.Reader.WithoutNodes().Cluster(ctx, c.Owner)
	switch {
	case apierrors.IsForbidden(err): // a user with few permissions may still have to save a quorum
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("You may not read the cluster's Kubernetes objects (%v), so the decision is based on the members alone.", err))
	case err != nil:
		return plan, err
	default:
		if v := policy.Precondition(cluster, l.NameAndID()); !v.Allowed {
			return plan, app.Refused("cannot %s: %s", what, v.Message)
		}
	}
	if pod := cmp.Or(l.Pod, l.DuePod(c.Owner)); pod != "" {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("Pod %s can't rejoin with its data. %s gives it a new member.", pod, replaceCommand(c, pod)))
	}
	return plan, nil
}

// useInstead returns what to do instead if a member must not simply be removed from the list.
// It is empty for a member that has no pod and gets none. Without an operator it is also empty
// for learners and dead voters.
func useInstead(c *app.Cluster, l etcd.Listed, healthy bool) string {
	m, due := c.Membership(), l.DuePod(c.Owner)
	switch {
	case l.Pod != "" && m.Manager != flavour.Unmanaged:
		return fmt.Sprintf("it has a pod, and %s manages the members. To replace it: %s. To have fewer members: %s", m.ManagerName, howToReplace(c, l.Pod), cmp.Or(m.ScaleInHow, m.ScaleHow))
	case due != "" && m.Manager != flavour.Unmanaged:
		return fmt.Sprintf("its pod %s is missing only now, and %s manages the members. kubectl describe statefulset %s -n %s shows why. If its data is lost: %s",
			due, m.ManagerName, c.StatefulSet, c.Namespace, howToReplace(c, due))
	case l.Pod != "" && healthy && !l.Learner:
		return fmt.Sprintf("it is healthy. kubectl etcd scale removes the last member with its pod and volume, and %s --force replaces this one", replaceCommand(c, l.Pod))
	}
	return ""
}

// howToReplace returns how to replace a member that an operator or a start script manages.
func howToReplace(c *app.Cluster, pod string) string {
	m := c.Membership()
	if m.ByPlugin {
		return replaceCommand(c, pod)
	}
	return m.ReplaceHow
}

func replaceCommand(c *app.Cluster, pod string) string {
	return fmt.Sprintf("kubectl etcd member replace %s %s -n %s", c.Target(), pod, c.Namespace)
}
