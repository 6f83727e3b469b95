// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

func placementChecks() []Check {
	return []Check{
		{
			ID: "P001", Category: Placement, Title: "no two members run on one node",
			Doc:  "If two of three members run on one node, the loss of this node costs quorum.",
			Cure: "Separate the members with an EtcdTopologyPolicy or with an anti-affinity of their own. Then, while all members are ready, restart the pod that shares the node with kubectl etcd restart TARGET --member POD, because a running pod doesn't move. If a member's data goes with its pod, replace the member instead.",
			run:  onDifferentNodes, needs: NeedMembers,
		},
		{
			ID: "P002", Category: Placement, Title: "members are spread evenly over the zones",
			Doc:  "If there are as many zones as members, each zone should have one member. If there are fewer zones, the loss of one zone should not cost quorum, where that can be avoided. The check applies only if the nodes that members may use show two or more zones.",
			Cure: "Follow the cure of P001. A volume that is bound in a zone keeps its member there. To move such a member, replace it.",
			run:  evenOverZones,
		},
		{
			ID: "P003", Category: Placement, Title: "members run as their topology policy requires",
			Doc:  "The check reports the verdict of the EtcdTopologyPolicy that governs the cluster. The status of the policy shows the same verdict.",
			Cure: "While all members are ready, restart the pods that break the policy with kubectl etcd restart TARGET --member POD, one at a time. Admission then adds the terms of the policy to the new pod. If a member's data goes with its pod, replace the member instead.",
			run:  policyKept,
		},
	}
}

func onDifferentNodes(f *Facts) []Finding {
	if f.Placement.Err != nil {
		return []Finding{unknown("where the members run", f.Placement.Err)}
	}
	if f.Size() <= 1 && len(f.Placement.Value) <= 1 {
		return f.counted().noOther("a single member has no other member to be separated from")
	}
	on := map[string][]string{}
	for _, m := range f.Placement.Value {
		if m.Node != "" {
			on[m.Node] = append(on[m.Node], m.Pod)
		}
	}
	var found []Finding
	for _, node := range slices.Sorted(maps.Keys(on)) {
		if pods := on[node]; len(pods) > 1 {
			found = append(found, warning(f.apart(pods[len(pods)-1]), "%s run on node %s%s", policy.List(pods), node, f.lossConsequence(pods)))
		}
	}
	if len(found) > 0 {
		return found
	}
	return ok("%s on %s", policy.Count(len(f.Placement.Value), "member"), policy.Plural(len(on), "node", "nodes"))
}

// lossConsequence returns what the loss of these pods at once means, empty where a quorum remains.
func (f *Facts) lossConsequence(pods []string) string {
	n := len(pods)
	for _, m := range f.Survey.Value.Members {
		n -= toInt(m.Err == nil && m.Learner && slices.Contains(pods, m.Pod))
	}
	if c := f.countedSurely(); c.voters-c.gone()-n < policy.Quorum(c.voters) {
		return ": its loss takes quorum"
	}
	return ""
}

// apart returns how to move a member to another node.
func (f *Facts) apart(pod string) string {
	move := f.move(pod)
	switch n := len(f.Nodes.Value); {
	case f.byManifest(pod):
		return move
	case f.Nodes.Err == nil && n < f.Size():
		return fmt.Sprintf("%d nodes are too few for %d members: add nodes, then %s", n, f.Size(), move)
	case f.Policy.Value.In(v1alpha1.ModeEnforce):
		return move
	}
	return "let an EtcdTopologyPolicy select the cluster (mode Enforce), then " + move
}

// WithoutTerms reports whether admission adds no scheduling terms to the members: static pods stay on
// their nodes, and it does not know which other pods without a StatefulSet or an operator belong together.
func (f *Facts) WithoutTerms() bool {
	return f.StaticPods() || f.Owner.WithoutStatefulSet() && f.Owner.Membership().ManagerName == flavour.Nothing
}

// byManifest reports whether only its manifest decides on which node a pod runs: admission adds no terms
// to it.
func (f *Facts) byManifest(pod string) bool { return f.WithoutTerms() || f.Owner.IsBeside(pod) }

// allHealthy reports whether every member is there, is Ready and, where members could be
// asked, follows the leader.
func (f *Facts) allHealthy() bool {
	if f.Pods.Err != nil || len(f.Pods.Value) < f.Size() || slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool { return !podstate.Ready(p) }) {
		return false
	}
	if f.Survey.Err != nil {
		return true
	}
	v := f.voters()
	return len(v.following)+len(v.notAsked) >= v.total
}

func evenOverZones(f *Facts) []Finding {
	switch {
	case f.Placement.Err != nil:
		return []Finding{unknown("where the members run", f.Placement.Err)}
	case f.Nodes.Err != nil:
		return []Finding{unknown("the nodes", f.Nodes.Err)}
	case f.Size() <= 1:
		return f.counted().noOther("a single member has no other member to be separated from")
	}
	zones := map[string]bool{}
	for _, n := range f.Nodes.Value {
		if n.Zone != "" {
			zones[n.Zone] = true
		}
	}
	if len(zones) < 2 {
		return notApplicable("the nodes that members may use show %s", policy.Plural(len(zones), "zone", "zones"))
	}
	switch s, broken := spread.ZonesBroken(f.Size(), f.Placement.Value, f.Nodes.Value); {
	case s.Reason == spread.NodesWithoutZone:
		return []Finding{{Level: Unknown, Message: s.Message}}
	case broken:
		return []Finding{warning(f.apart(f.misplaced()), "%s", s.Message)}
	}
	in := map[string]int{}
	for _, m := range f.Placement.Value {
		in[m.Zone]++
	}
	var parts []string
	for _, z := range slices.Sorted(maps.Keys(in)) {
		parts = append(parts, fmt.Sprintf("%s %d", cmp.Or(z, "(none)"), in[z]))
	}
	return ok("%s", strings.Join(parts, ", "))
}

func policyKept(f *Facts) []Finding {
	m := f.Policy.Value
	switch {
	case f.Policy.Err != nil:
		return []Finding{unknown("which policy governs the cluster", f.Policy.Err)}
	case m.Policy == nil:
		return notApplicable("no topology policy governs the cluster")
	case m.In(v1alpha1.ModeOff):
		return notApplicable("policy %s is off", m.Policy.Name)
	case f.WithoutTerms():
		return notApplicable("policy %s adds no terms to static pods and to pods that have neither a StatefulSet nor an operator", m.Policy.Name)
	case f.Standing.Err != nil:
		return []Finding{unknown("where the members run", f.Standing.Err)}
	}
	s := f.Standing.Value
	text := fmt.Sprintf("policy %s: %s", m.Policy.Name, s.Message)
	switch s.Kept {
	case policy.True:
		return ok("%s", text)
	case policy.False:
		report := warning
		if m.In(v1alpha1.ModeEnforce) && m.Policy.Spec.Spread.Enforcement != v1alpha1.EnforcementPreferred {
			report = failure
		}
		return []Finding{report(f.move(f.misplaced()), "%s", text)}
	case policy.Unknown, policy.Absent:
	}
	if s.Reason == spread.NotScheduled {
		return []Finding{info("", "%s", text)}
	}
	return []Finding{{Level: Unknown, Message: text}}
}

// misplaced returns the pod to move: the last on a node that has several, or else in
// the zone that has most, but one that is known to be tied there before all others. The
// first ones are moved last.
func (f *Facts) misplaced() string {
	nodes, zones := map[string]int{}, map[string]int{}
	for _, m := range f.Placement.Value {
		nodes[m.Node]++
		zones[m.Zone]++
	}
	best, most := "POD", 0
	for _, m := range f.Placement.Value {
		shared := zones[m.Zone]
		if m.Node != "" && nodes[m.Node] > 1 {
			shared += len(f.Placement.Value)
		}
		if pod := f.pod(best); shared > most || shared == most && (pod == nil || !tied(pod)) {
			best, most = m.Pod, shared
		}
	}
	return best
}
