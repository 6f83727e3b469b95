// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/hosts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Hosts is where the pods of members can start. The zero value is that each can.
type Hosts struct {
	// None are the members that no node can start.
	None []NoHost
	// ApartBy is the topology key by which required anti-affinity keeps the members apart, if that lets only Together of
	// them run at the same time. It is empty if all can.
	ApartBy  string
	Together int
	// Unlisted means that nodes can't be listed. Unread are volumes that can't be read.
	Unlisted bool
	Unread   []string
}

// NoHost is a member that no node can start. Opens means that one can after its cordon or its taint is removed, and Bound
// that the member has a volume, which may be where no node is.
type NoHost struct {
	Pod, Why     string
	Opens, Bound bool
}

// findVolumes finds out what the members' claims and volumes are, which nodes can start the members with them, and whether
// members without a pod may still run.
func (r *Plan) findVolumes(ctx context.Context, kube client.Client, reader *observe.Reader, sts *appsv1.StatefulSet, claims []string) error {
	if err := r.findClaims(ctx, kube, claims); err != nil {
		return err
	}
	pods, err := reader.MemberPods(ctx, r.Owner)
	if err != nil {
		return err
	}
	nodes, allowed, err := hosts.List(ctx, kube)
	if err != nil {
		return err
	}
	if err := r.findAbsent(ctx, kube, nodes, pods); err != nil {
		return err
	}
	if r.Hosts.Unlisted = !allowed; !allowed {
		return nil
	}
	return r.findHosts(ctx, kube, sts, nodes, pods)
}

// MayBeLost refuses members that the user declares to be lost, and that are none of the cluster or answer. A recovery has
// its own rule for this.
func (r Plan) MayBeLost() error {
	for _, pod := range r.Lost {
		switch {
		case r.Saved:
		case r.Owner.Ordinal(pod) < 0:
			return r.refuse("it has no member %s, which --lost names", pod)
		case slices.Contains(r.Answered, pod):
			return r.refuse("%s is declared to be lost, and it answers: leave it out of --lost", pod)
		}
	}
	return nil
}

// findHosts finds the nodes that can start the members' pods. A helper pod has the node selector and the tolerations of a
// member, and its volumes, so it can start where the member can.
func (r *Plan) findHosts(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, nodes hosts.Nodes, pods []*corev1.Pod) error {
	next := hosts.Admitted(etcdconf.NextPod(sts, &sts.Spec.Template, r.Members[0].Pod), pods)
	var each [][]*corev1.Node
	for _, m := range r.into() {
		volumes, unread, err := hosts.Volumes(ctx, kube, r.Owner.Namespace, r.staying(m))
		if err != nil {
			return err
		}
		for _, name := range unread {
			if !slices.Contains(r.Hosts.Unread, name) { // members may share a claim
				r.Hosts.Unread = append(r.Hosts.Unread, name)
			}
		}
		starting := nodes.Starting(next, volumes)
		if len(starting) == 0 {
			why, opens := nodes.NoStart(next, volumes)
			r.Hosts.None = append(r.Hosts.None, NoHost{m.Pod, why, opens, len(volumes) > 0})
		}
		each = append(each, starting)
	}
	r.Hosts.Together, r.Hosts.ApartBy = hosts.Together(next, each)
	return nil
}

// staying returns the claims of a member that it has after the restore, too.
func (r Plan) staying(m Member) []string {
	if r.Druid != nil || !slices.Contains(r.intact(), m) {
		return nil
	}
	return r.ClaimsOf([]Member{m})
}

// noHost returns the refusal of a restore after which a member can't start. It would be found when all have stopped.
func (r Plan) noHost() error {
	var why, pods, lost []string
	for _, n := range r.Hosts.None {
		why, pods = append(why, n.Pod+": "+n.Why), append(pods, n.Pod)
		if n.Bound && !n.Opens {
			lost = append(lost, n.Pod)
		}
	}
	if len(why) == 0 {
		return r.notTogether()
	}
	how := fmt.Sprintf("Make a node schedulable first. If an autoscaler makes the nodes, let pods of StatefulSet %s start, so that it does, and repeat the command", r.Owner.StatefulSet)
	if len(lost) > 0 {
		how = fmt.Sprintf("Bring a node back that can mount the volume. If the volume is lost for good, add --lost %s, which creates a new one", strings.Join(lost, ","))
	}
	const effect = "could not start again"
	return r.refuse("%s. The restore stops all members, and %s. %s", strings.Join(why, "; "), policy.Names(pods, effect, effect), how)
}

// notTogether returns the refusal of members that have to run apart, and can't.
func (r Plan) notTogether() error {
	if r.Hosts.ApartBy == "" || r.Druid != nil {
		return nil
	}
	return r.refuse("%s. Make more nodes schedulable, or restore fewer members: --replicas %d", r.together(), r.Hosts.Together)
}

// together describes how many members can run at the same time.
func (r Plan) together() string {
	return fmt.Sprintf("only %d of its %s can run at the same time: their pods must have different values of %s, and the nodes that can start them have too few",
		r.Hosts.Together, policy.Count(len(r.into()), "member"), r.Hosts.ApartBy)
}

// warnOfHosts warns of what is not known about nodes, and of members of etcd-druid that wait for a node.
func (r Plan) warnOfHosts(warn func(format string, args ...any)) {
	if r.Hosts.Unlisted {
		warn("you may not list nodes: it is not known whether the members can start again after they have stopped")
	}
	for _, name := range r.Hosts.Unread {
		warn("you may not read PersistentVolume %s: it is not known whether the member on it can start again", name)
	}
	if r.Hosts.ApartBy != "" && r.Druid != nil {
		warn("%s: the others wait for nodes after the restore", r.together())
	}
}
