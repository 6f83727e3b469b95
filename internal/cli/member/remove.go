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
	cmd := &cobra.Command{
		Use:   "remove TARGET MEMBER",
		Short: "Take a dead member out of etcd's list",
		Long: ui.Paragraphs(`
			Take a member out of etcd's list: a learner, or a voter that is dead. MEMBER is its ID in
			hexadecimal, its name or its pod.

			The voters that are left must have a quorum that is healthy now. A member that is well goes
			by scale or member replace, which also see to its pod and volume. On a cluster whose members
			an operator or a start script manages, only a member can be removed that has no pod, and
			that none is due for.`),
		Example: ui.Examples(`
			# A member that was left behind, by its ID
			kubectl etcd member remove etcd/main 8e9e05c52164694d

			# See whether it may go, and change nothing
			kubectl etcd member remove statefulset/main main-3 --dry-run=client`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return memberRemove(cmd.Context(), e, args[0], args[1], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func memberRemove(ctx context.Context, a *app.App, target, member string, f change.Flags) error {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	r := &removal{app: a, owner: c, member: member}
	defer r.close()
	return change.Do(ctx, a, c, f, change.Operation{Verb: "member remove", Needs: memberNeeds(c), Judge: r.judge, Act: r.act})
}

// removal takes one member out of etcd's list.
type removal struct {
	app    *app.App
	owner  *app.Cluster
	member string
	// now is the cluster as it was judged last, with its pods of that moment.
	now    *app.Cluster
	listed etcd.Listed
}

func (r *removal) close() {
	if r.now != nil {
		_ = r.now.Close() // nothing is written to it any more
	}
	r.now = nil
}

// judge finds the cluster's pods again each time: the member may have got a pod since the
// plan was made. From the first time on, the member is the one with the ID found then.
func (r *removal) judge(ctx context.Context) (operate.Plan, error) {
	r.close()
	var err error
	if r.now, err = r.app.Cluster(ctx, r.owner.Target().String()); err != nil {
		return operate.Plan{}, err
	}
	s, err := membership.SurveyQuorum(ctx, r.now.Members, "remove "+r.member)
	if err != nil {
		return operate.Plan{}, err
	}
	if r.listed, err = membership.FindMember(s, r.member); err != nil {
		return operate.Plan{}, err
	}
	r.member = fmt.Sprintf("%016x", r.listed.ID)
	return removePlan(ctx, r.how(), r.now, s, r.listed)
}

func (r *removal) how() membership.Removal {
	return membership.Removal{Reader: r.now.Reader, Owner: r.now.Owner, Members: r.now.Members, Clock: r.app.Clock}
}

func (r *removal) act(ctx context.Context, run *change.Run) error {
	if err := r.how().Remove(ctx, r.listed, run.Held); err != nil {
		return err
	}
	done := "removed member " + r.listed.NameAndID()
	run.Done(ctx, reasons.MemberRemoved, done, fmt.Sprintf("%s: %s", r.now.Target(), done))
	return nil
}

func removePlan(ctx context.Context, how membership.Removal, c *app.Cluster, s etcd.Survey, l etcd.Listed) (operate.Plan, error) {
	what := "remove " + l.NameAndID()
	peers := membership.Peers(c.Owner, s)
	p := peers[slices.IndexFunc(peers, func(p rules.Peer) bool { return p.ID == l.ID })]
	if why := goesAnotherWay(c, l, p.Healthy); why != "" {
		return operate.Plan{}, app.Refused("cannot %s: %s", what, why)
	}
	v := how.MayRemove(ctx, s, l)
	if !v.Allowed {
		return operate.Plan{}, app.Refused("cannot %s: %s", what, v.Message)
	}
	plan := operate.Plan{
		Title: what + " from etcd",
		Facts: []string{"peer URL " + p.URL, v.Message}, Steps: []string{"remove it from etcd's member list"},
	}
	cluster, err := c.Reader.WithoutNodes().Cluster(ctx, c.Owner)
	switch {
	case apierrors.IsForbidden(err): // who is there to save a quorum may have few rights
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("Kubernetes' own view of the cluster can't be read (%v), so the members alone were asked.", err))
	case err != nil:
		return plan, err
	default:
		if v := policy.Precondition(cluster, l.NameAndID()); !v.Allowed {
			return plan, app.Refused("cannot %s: %s", what, v.Message)
		}
	}
	if pod := cmp.Or(l.Pod, l.DuePod(c.Owner)); pod != "" {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("Pod %s can't rejoin with the data it has: %s gives it a new member.", pod, replaceCommand(c, pod)))
	}
	return plan, nil
}

// goesAnotherWay says how a member goes that should not just be taken off the list,
// and is empty for the others: those that no pod runs or will run, learners, and dead
// ones of a cluster that nobody manages.
func goesAnotherWay(c *app.Cluster, l etcd.Listed, healthy bool) string {
	m, due := c.Membership(), l.DuePod(c.Owner)
	switch {
	case l.Pod != "" && m.Manager != flavour.Unmanaged:
		return fmt.Sprintf("it has a pod, and %s manages the members; to replace it, %s; to have fewer, %s", m.ManagerName, wayToReplace(c, l.Pod), cmp.Or(m.ScaleInHow, m.ScaleHow))
	case due != "" && m.Manager != flavour.Unmanaged:
		return fmt.Sprintf("its pod %s is only not there now, and %s manages the members; kubectl describe statefulset %s -n %s tells why; if its data is lost, %s",
			due, m.ManagerName, c.StatefulSet, c.Namespace, wayToReplace(c, due))
	case l.Pod != "" && healthy && !l.Learner:
		return fmt.Sprintf("it is healthy; kubectl etcd scale takes the last member away, with its pod and volume, and kubectl etcd member replace %s --force replaces this one", l.Pod)
	}
	return ""
}

// wayToReplace is how a member of a cluster that somebody manages is replaced.
func wayToReplace(c *app.Cluster, pod string) string {
	m := c.Membership()
	if m.ByPlugin {
		return replaceCommand(c, pod)
	}
	return m.ReplaceHow
}

func replaceCommand(c *app.Cluster, pod string) string {
	return fmt.Sprintf("kubectl etcd member replace %s %s -n %s", c.Target(), pod, c.Namespace)
}
