// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// readNodes reads the nodes to drain, and what kubectl drain evicts from them.
func (o *observation) readNodes(ctx context.Context, j *Job, names []string) error {
	var missing []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		var node corev1.Node
		// Not from what was listed: the user may have permission for single nodes.
		err := j.Kube.Get(ctx, client.ObjectKey{Name: name}, &node)
		if apierrors.IsNotFound(err) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			return fmt.Errorf("read node %s: %w", name, err)
		}
		n, fails := Node{Node: &node}, []string(nil)
		pods, warnings, fails, err := j.Kubectl.Pods(ctx, name)
		switch {
		case apierrors.IsForbidden(err):
			if !denies(o.Unseen, "pods") {
				o.Unseen = append(o.Unseen, source.Denial{Resource: "pods", Err: err})
			}
			o.unlisted[name] = true
			n.Warnings = append(n.Warnings, "the pods of the node can't be listed, so it is not known what else kubectl drain evicts")
		case err != nil:
			return fmt.Errorf("list the pods of node %s: %w", name, err)
		}
		if warnings != "" {
			n.Warnings = append(n.Warnings, "kubectl drain: "+warnings)
		}
		if !scheduling.NodeReady(&node) {
			n.Waits = append(n.Waits, "the node is not Ready: pods that its kubelet does not stop stay, and the drain waits for them")
		}
		for i := range pods {
			o.evicted[pods[i].UID] = true
		}
		n.Others = pods // readClusters takes the members out
		o.Nodes = append(o.Nodes, n)
		o.Facts.Nodes = append(o.Facts.Nodes, drain.Node{Name: name, Fails: fails})
	}
	if len(missing) > 0 {
		return &MissingNodesError{Names: missing}
	}
	return o.readHosts(ctx)
}

// MissingNodesError has the names of nodes that don't exist.
type MissingNodesError struct{ Names []string }

func (e *MissingNodesError) Error() string {
	return "there is no node " + strings.Join(e.Names, ", and no node ")
}

// readHosts reads which nodes get new pods.
func (o *observation) readHosts(ctx context.Context) error {
	var all corev1.NodeList
	if err := o.reader.List(ctx, &all); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range all.Items {
		n := &all.Items[i]
		o.Facts.Hosts = append(o.Facts.Hosts, drain.Host{Name: n.Name, Zone: n.Labels[spread.ZoneKey], Open: !n.Spec.Unschedulable && scheduling.NodeReady(n)})
	}
	return nil
}
