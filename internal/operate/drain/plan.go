// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// Needs returns the permissions for a drain of any nodes.
func Needs() []operate.Need {
	needs := []operate.Need{
		{Verb: "get", Resource: "nodes"}, {Verb: "list", Resource: "nodes"}, {Verb: "patch", Resource: "nodes"},
		{Verb: "create", Resource: "pods", Subresource: "eviction"},
		{Verb: "get", Group: "apps", Resource: "daemonsets"},
		{Verb: "get", Resource: "configmaps"}, // whether a change of members is unfinished
		{Verb: "create", Group: "events.k8s.io", Resource: "events"},
	}
	for _, r := range []struct{ group, resource string }{
		{"", "pods"}, {"apps", "statefulsets"}, {"policy", "poddisruptionbudgets"}, {"coordination.k8s.io", "leases"},
	} {
		needs = append(needs, operate.Need{Verb: "get", Group: r.group, Resource: r.resource}, operate.Need{Verb: "list", Group: r.group, Resource: r.resource})
	}
	return needs
}

// OperatePlan returns the plan of a drain for the user, or a refusal.
func (s *State) OperatePlan() (operate.Plan, error) {
	if len(s.Plan.Blocked) > 0 {
		return operate.Plan{}, &operate.RefusedError{What: s.title(), Why: s.blockers()}
	}
	p := operate.Plan{Title: s.title()}
	for i := range s.Facts.Clusters {
		c := &s.Facts.Clusters[i].Cluster
		p.Facts = append(p.Facts, fmt.Sprintf("etcd cluster %s/%s: %d of %d members are healthy", c.Namespace, c.Name, readyCount(*c), max(c.Size, len(c.Members))))
	}
	p.Steps = append(p.Steps, "cordon "+strings.Join(s.names(), ", "))
	for i, w := range s.Plan.Waves {
		var batches []string
		for _, batch := range w.Batches {
			batches = append(batches, strings.Join(podNames(batch), ", "))
		}
		step := fmt.Sprintf("wave %d: drain %s", i+1, policy.List(w.Nodes))
		if len(batches) > 0 {
			step += ": evict " + strings.Join(batches, ", and when these are ready again, ")
		}
		p.Steps = append(p.Steps, step)
		if i < len(s.Plan.Waves)-1 {
			p.Steps = append(p.Steps, between(w)...)
		}
		for _, c := range w.Interrupted {
			p.Warnings = append(p.Warnings, fmt.Sprintf("etcd cluster %s has one member, and is down until it is back.", c))
		}
		for _, l := range w.Later {
			p.Facts = append(p.Facts, fmt.Sprintf("%s is not in wave %d: %s", l.Node, i+1, l.Cause.Message))
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		p.Warnings = append(p.Warnings, n.sentences(n.Warnings)...)
		p.Waits = append(p.Waits, n.sentences(n.Waits)...)
	}
	p.Subject = s.subject()
	return p, nil
}

// sentences returns warnings of a node as whole sentences.
func (n *Node) sentences(warnings []string) []string {
	var out []string
	for _, w := range warnings {
		out = append(out, fmt.Sprintf("%s: %s.", n.Name, w))
	}
	return out
}

// between returns what must happen after a wave before the next one.
func between(w drain.Wave) []string {
	var out []string
	for _, b := range w.Back {
		if b.Message != "" {
			out = append(out, b.Message)
		}
	}
	return out
}

// title returns the drain in one line.
func (s *State) title() string {
	if len(s.Nodes) == 1 {
		return "drain node " + s.Nodes[0].Name
	}
	if len(s.Nodes) > 5 {
		return "drain " + policy.Count(len(s.Nodes), "node")
	}
	return "drain nodes " + policy.List(s.names())
}

func (s *State) names() []string {
	names := make([]string, 0, len(s.Nodes))
	for i := range s.Nodes {
		names = append(names, s.Nodes[i].Name)
	}
	return names
}

// blockers returns why nodes can't be drained, and which can.
func (s *State) blockers() []string {
	var why []string
	for _, b := range s.Plan.Blocked {
		for _, c := range b.Causes {
			why = append(why, fmt.Sprintf("%s: %s", b.Node, c.Message))
		}
	}
	return why
}

// subject identifies the waves and what they evict.
func (s *State) subject() string {
	var b strings.Builder
	for _, w := range s.Plan.Waves {
		fmt.Fprintln(&b, w.Nodes, w.Batches)
	}
	for i := range s.Nodes {
		for _, m := range s.Nodes[i].Members {
			fmt.Fprintln(&b, s.Nodes[i].Name, m.Pod.UID)
		}
	}
	return b.String()
}

func podNames(batch []drain.Eviction) []string {
	names := make([]string, 0, len(batch))
	for _, e := range batch {
		names = append(names, e.Namespace+"/"+e.Pod)
	}
	return names
}

// Drainable returns the nodes that are in a wave.
func (s *State) Drainable() []string {
	var names []string
	for i := range s.Nodes {
		for _, w := range s.Plan.Waves {
			if slices.Contains(w.Nodes, s.Nodes[i].Name) {
				names = append(names, s.Nodes[i].Name)
			}
		}
	}
	return names
}
