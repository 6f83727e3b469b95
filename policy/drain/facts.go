// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import "github.com/kubectl-etcd/kubectl-etcd/policy/eviction"

// Facts is the input of the rule. The order of its slices doesn't change the result.
type Facts struct {
	// Nodes are the nodes to drain, each once.
	Nodes []Node
	// Hosts are all nodes, also those to drain.
	Hosts []Host
	// Clusters are the etcd clusters with pods on the nodes to drain.
	Clusters []Cluster
	// Budgets are the disruption budgets of these pods.
	Budgets []Budget
}

// Node is a node to drain.
type Node struct {
	Name string
	// Fails are the reasons why kubectl drain would evict no pod of the node.
	Fails []string
}

// Host is a node on which a member may run.
type Host struct {
	Name, Zone string
	// Open is false for a node that gets no new pods now: it is cordoned or not Ready.
	Open bool
}

// Cluster is an etcd cluster, as the rule about evictions sees it. Pod and Idle of its Facts are
// not used.
type Cluster struct {
	eviction.Facts
	// Pods are the pods of the members that exist.
	Pods []Pod
}

// Pod is the pod of a member.
type Pod struct {
	Name string
	// Node is where it runs, empty while it is not scheduled.
	Node string
	// Stays is true if a drain of its node does not evict it: it is a static pod, for example.
	Stays bool
	// Idle is true if its eviction stops nothing. See eviction.Facts.
	Idle bool
	// Ready is its Ready condition, which the eviction API reads.
	Ready bool
	// Budgets are the names of the budgets that the eviction API checks for it, in its namespace.
	Budgets []string
	// Hosts are the nodes that its node selector, affinity, tolerations and volumes admit.
	Hosts []string
	// HostsUnknown is why Hosts is not known, empty if it is known.
	HostsUnknown string
	// ApartByHost and ApartByZone report whether required terms keep it from the nodes, or from
	// fuller zones, of the other members.
	ApartByHost, ApartByZone bool
}

// Budget is a disruption budget as the eviction API reads it.
type Budget struct {
	Namespace, Name string
	// Text is its value, such as minAvailable=2. Only messages contain it.
	Text string
	// Allowed is how many Ready pods may be evicted now.
	Allowed int
	// Behind is true if the disruption controller has not seen its last change yet.
	Behind bool
	// UnreadyGo is true if a pod that is not Ready may be evicted now. It then uses none of Allowed.
	UnreadyGo bool
}
