// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// Output returns the plan for printing.
func (s *State) Output() *v1alpha1.DrainPlan {
	p := &v1alpha1.DrainPlan{Nodes: []v1alpha1.DrainNode{}, Waves: []v1alpha1.DrainWave{}}
	for i := range s.Nodes {
		p.Nodes = append(p.Nodes, s.nodeOutput(&s.Nodes[i]))
	}
	for i := range s.Plan.Waves {
		p.Waves = append(p.Waves, waveOutput(i+1, &s.Plan.Waves[i]))
	}
	for _, d := range s.Unseen {
		p.Unseen = append(p.Unseen, v1alpha1.Unseen{What: d.Resource, Why: d.Err.Error()})
	}
	p.Namespace = s.Partial
	return p
}

func (s *State) nodeOutput(n *Node) v1alpha1.DrainNode {
	out := v1alpha1.DrainNode{Name: n.Name, Cordoned: n.Spec.Unschedulable, OtherPods: len(n.Others), Warnings: slices.Concat(n.Warnings, n.Waits)}
	for _, m := range n.Members {
		out.Members = append(out.Members, v1alpha1.DrainMember{Namespace: m.Pod.Namespace, Cluster: m.Owner.Target().String(), Pod: m.Pod.Name, Stays: m.Stays})
	}
	for i, w := range s.Plan.Waves {
		if slices.Contains(w.Nodes, n.Name) {
			out.Wave = i + 1
		}
		for _, l := range w.Later {
			if l.Node == n.Name {
				out.NotBefore = append(out.NotBefore, v1alpha1.DrainCause{Wave: i + 1, Reason: l.Cause.Reason.Name(), Message: l.Cause.Message})
			}
		}
	}
	for _, b := range s.Plan.Blocked {
		if b.Node == n.Name {
			for _, c := range b.Causes {
				out.Blocked = append(out.Blocked, v1alpha1.DrainCause{Reason: c.Reason.Name(), Message: c.Message})
			}
		}
	}
	return out
}

func waveOutput(number int, w *drain.Wave) v1alpha1.DrainWave {
	out := v1alpha1.DrainWave{Wave: number, Nodes: w.Nodes, Interrupted: w.Interrupted}
	for _, batch := range w.Batches {
		var pods []string
		for _, e := range batch {
			pods = append(pods, e.Namespace+"/"+e.Pod)
		}
		out.Evictions = append(out.Evictions, v1alpha1.DrainBatch{Pods: pods})
	}
	for _, b := range w.Back {
		if b.Message != "" {
			out.Await = append(out.Await, v1alpha1.DrainAwait{Pod: b.Namespace + "/" + b.Pod, Uncordon: b.Uncordon, Reason: b.Reason.Name(), Message: b.Message})
		}
	}
	return out
}

// Incomplete returns an error if clusters, or what protects them, could not be seen.
func (s *State) Incomplete() error {
	if len(s.Unseen) == 0 {
		return nil
	}
	var kinds []string
	for _, d := range s.Unseen {
		kinds = append(kinds, d.Resource)
	}
	where := "only namespace " + s.Partial + " was seen"
	if s.Partial == "" {
		where = "the plan lacks what they would show"
	}
	return fmt.Errorf("it is not known what blocks these nodes: you may not list %s in all namespaces, so %s", strings.Join(kinds, ", "), where)
}

// Verdict returns an error if a node can't be drained, or if it is not known.
func (s *State) Verdict() error {
	if err := s.Incomplete(); err != nil {
		return err
	}
	if len(s.Plan.Blocked) == 0 {
		return nil
	}
	var names []string
	for _, b := range s.Plan.Blocked {
		names = append(names, b.Node)
	}
	return operate.Refuse("%s can't be drained now: %s", policy.List(names), s.Plan.Blocked[0].Causes[0].Message)
}
