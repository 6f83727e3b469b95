// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// Kubectl is what kubectl drain knows and does.
type Kubectl interface {
	// Pods returns the pods that it evicts from a node, what it warns about, and why it would evict
	// none. The error is that of a request.
	Pods(ctx context.Context, node string) (pods []corev1.Pod, warnings string, fails []string, err error)
	// Cordon cordons a node. dry has the API server only try it.
	Cordon(ctx context.Context, node *corev1.Node, dry bool) error
	// Evict evicts pods and waits until they are gone.
	Evict(ctx context.Context, pods []corev1.Pod) error
}

// Job plans drains of nodes, and does them. It is for one goroutine.
type Job struct {
	Kube    client.Client
	Reader  *observe.Reader
	Kubectl Kubectl
	Clock   clock.Clock
	// Namespace is where clusters are searched if the user may not list those of all namespaces.
	Namespace string
	// GracePeriod is how many seconds members get to stop, negative for the value of their pods.
	GracePeriod int
	// Args and Flags are what the commands that are printed need: Args about pods, and Flags for the connection to the API
	// server.
	Args, Flags string
	// Warnf warns the user.
	Warnf func(format string, args ...any)
	// Logf logs each step that was done, and with "… " what is awaited.
	Logf func(format string, args ...any)

	waiter operate.Waiter
}

// pollInterval is the time between two observations while something is awaited.
const pollInterval = 2 * time.Second

// State is the nodes as they were found once, with the plan for them.
type State struct {
	Facts rules.Facts
	Plan  rules.Plan
	// Nodes are the nodes to drain, in the order of their names.
	Nodes []Node
	// Owners are the owners of the clusters in Facts, in the same order.
	Owners []owner.Owner
	// Unseen are the kinds that the user may not list. Clusters may be missing because of them.
	Unseen []source.Denial
	// Partial is the only namespace that was seen, empty for all.
	Partial string
}

// Node is a node to drain.
type Node struct {
	*corev1.Node
	// Members are the members on the node, and Others the other pods that kubectl drain evicts.
	Members []Member
	Others  []corev1.Pod
	// Warnings are what users should know about the node.
	Warnings []string
	// Waits are the same about states of the moment that the drain waits for.
	Waits []string
}

// Member is a member's pod on a node.
type Member struct {
	Pod   *corev1.Pod
	Owner owner.Owner
	// Stays is true if the drain does not evict it.
	Stays bool
}

// node returns a node to drain by its name, nil for none.
func (s *State) node(name string) *Node {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i]
		}
	}
	return nil
}
