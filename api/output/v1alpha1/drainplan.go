// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DrainPlan is in which waves nodes can be drained, and what blocks them.
//
// +kubebuilder:object:root=true
type DrainPlan struct {
	metav1.TypeMeta `json:",inline"`

	// Nodes are the nodes to drain, by name.
	Nodes []DrainNode `json:"nodes"`
	// Waves are the waves, in order.
	Waves []DrainWave `json:"waves"`
	// Namespace is the only namespace that was seen, because the user may not list pods in all of
	// them. It is empty if all were seen.
	Namespace string `json:"namespace,omitempty"`
	// Unseen has what could not be read. Clusters or budgets may be missing for this reason, so
	// nothing in the plan shows that a node can be drained.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Names returns the nodes that can be drained, in the order of their waves, for -o name.
func (p *DrainPlan) Names() []string {
	var names []string
	for i := range p.Waves {
		for _, n := range p.Waves[i].Nodes {
			names = append(names, "node/"+n)
		}
	}
	return names
}

// DrainNode is a node to drain.
type DrainNode struct {
	Name string `json:"name"`
	// Wave is the number of its wave, from 1. It is 0 if the node is blocked.
	Wave     int  `json:"wave"`
	Cordoned bool `json:"cordoned"`
	// Members are the members of etcd clusters that run on it.
	Members []DrainMember `json:"members,omitempty"`
	// OtherPods is the number of other pods that kubectl drain evicts.
	OtherPods int `json:"otherPods"`
	// Blocked are the causes for which it can't be drained now.
	Blocked []DrainCause `json:"blocked,omitempty"`
	// NotBefore are the causes for which it is in no earlier wave.
	NotBefore []DrainCause `json:"notBefore,omitempty"`
	Warnings  []string     `json:"warnings,omitempty"`
}

// DrainMember is a member that runs on a node.
type DrainMember struct {
	Namespace string `json:"namespace"`
	// Cluster is the argument of commands for its cluster.
	Cluster string `json:"cluster"`
	Pod     string `json:"pod"`
	// Stays is true if the drain does not evict it, such as a static pod.
	Stays bool `json:"stays,omitempty"`
}

// DrainCause is why a node is not drained now, or not in a wave.
type DrainCause struct {
	// Wave is the wave in which the node is not. It is 0 for a node that is blocked.
	Wave    int    `json:"wave,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// DrainWave is a set of nodes that can be drained at the same time.
type DrainWave struct {
	Wave  int      `json:"wave"`
	Nodes []string `json:"nodes"`
	// Evictions are the members that it evicts, nearly always in one batch. With several batches, the
	// members of each must be ready again before the next batch.
	Evictions []DrainBatch `json:"evictions,omitempty"`
	// Interrupted are the clusters of one member that it stops, as namespace/name.
	Interrupted []string `json:"interrupted,omitempty"`
	// Await is what must happen before the next wave.
	Await []DrainAwait `json:"await,omitempty"`
}

// DrainBatch is a set of members that can be evicted at the same time.
type DrainBatch struct {
	// Pods are the pods as namespace/name.
	Pods []string `json:"pods"`
}

// DrainAwait is a member that must be ready again before the next wave.
type DrainAwait struct {
	// Pod is the pod as namespace/name.
	Pod string `json:"pod"`
	// Uncordon is the node to uncordon first, if no other one can run the pod.
	Uncordon string `json:"uncordon,omitempty"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
}
