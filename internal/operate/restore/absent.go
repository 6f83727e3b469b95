// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/hosts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// findAbsent finds out whether members without a pod that has run may still run. A pod that was deleted by force, or with
// its node, may run on a machine that is only cut off from the API server.
func (r *Plan) findAbsent(ctx context.Context, kube client.Client, nodes hosts.Nodes, pods []*corev1.Pod) error {
	for ordinal := range max(len(r.Members), int(r.Owner.Replicas)) {
		name := r.Owner.PodName(ordinal)
		if slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Name == name && hasRun(p) }) {
			continue
		}
		volumes, _, err := hosts.Volumes(ctx, kube, r.Owner.Namespace, r.claimsOfPod(name))
		if err != nil {
			return err
		}
		mounting := nodes.Mounting(volumes)
		switch {
		case len(mounting) == 1 && tied(volumes, mounting[0]):
			if scheduling.CutOff(mounting[0]) {
				r.Unreachable = append(r.Unreachable, Unreachable{Pod: name, Node: mounting[0].Name, ByVolume: true})
			}
		case ordinal < int(r.Owner.Replicas): // without replicas, no member ran
			r.Absent = append(r.Absent, name)
			r.addSuspects(mounting)
		}
	}
	return nil
}

// hasRun reports whether a container of a pod has run, so that its node is where the member ran last.
func hasRun(pod *corev1.Pod) bool {
	return slices.ContainsFunc(containers.Statuses(pod), func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil || s.RestartCount > 0
	})
}

// addSuspects adds the nodes that are cut off, on which an absent member may still run.
func (r *Plan) addSuspects(nodes []*corev1.Node) {
	for _, n := range nodes {
		if scheduling.CutOff(n) && !slices.Contains(r.Suspects, n.Name) {
			r.Suspects = append(r.Suspects, n.Name)
		}
	}
}

// claimsOfPod returns the claims of a member's pod.
func (r Plan) claimsOfPod(pod string) []string {
	if r.Druid == nil {
		return r.ClaimsOf([]Member{{Pod: pod}})
	}
	var names []string
	for _, c := range r.Owner.Claims {
		names = append(names, c.Template+"-"+pod)
	}
	return names
}

// tied reports whether a volume is of one node: its affinity has the node's name, and not that of a zone.
func tied(volumes []*corev1.PersistentVolume, node *corev1.Node) bool {
	return slices.ContainsFunc(volumes, func(v *corev1.PersistentVolume) bool {
		if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
			return false
		}
		return slices.ContainsFunc(v.Spec.NodeAffinity.Required.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
			return slices.ContainsFunc(slices.Concat(t.MatchExpressions, t.MatchFields), func(e corev1.NodeSelectorRequirement) bool {
				return slices.Contains(e.Values, node.Name) || slices.Contains(e.Values, node.Labels[corev1.LabelHostname])
			})
		})
	})
}

// stoppedByUs leaves out of the plan of an unfinished restore that has stopped the members what only matters before. A
// restore that ended while the members stopped has not shown that they did: their pods may have been deleted with their
// nodes since.
func (r *Plan) stoppedByUs(done int) {
	r.Hosts = Hosts{}
	if done <= firstStop(r.steps()) {
		return
	}
	r.Unreachable = slices.DeleteFunc(r.Unreachable, func(u Unreachable) bool { return u.ByVolume })
	r.Absent, r.Suspects = nil, nil
}

// warnOfAbsent warns of members of which nothing shows that they have stopped.
func (r Plan) warnOfAbsent(warn func(format string, args ...any)) {
	const old = "would go on as the old cluster"
	for _, u := range r.Deleted {
		warn("node %s of %s does not exist any more: make sure that its machine is off, since the member %s", u.Node, u.Pod, old)
	}
	if len(r.Absent) == 0 {
		return
	}
	machines, suspects := "that its old machine is off, since the member", ""
	if len(r.Absent) > 1 {
		machines = "that their old machines are off, since the members"
	}
	if len(r.Suspects) > 0 {
		suspects = " (" + policy.Names(r.Suspects, "is not Ready", "are not Ready") + ")"
	}
	warn("%s: make sure %s %s%s", policy.Names(r.Absent, "has no pod that shows where it ran", "have no pods that show where they ran"), machines, old, suspects)
}
