// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// observation is one reading of all facts.
type observation struct {
	*State

	reader  *observe.Reader
	budgets []policyv1.PodDisruptionBudget
	// evicted are the pods that kubectl drain evicts, by UID. That is not known of the nodes in unlisted.
	evicted  map[types.UID]bool
	unlisted map[string]bool
}

// Observe reads the nodes, the clusters with members on them, and the budgets, and makes the plan.
func (j *Job) Observe(ctx context.Context, nodes []string) (*State, error) {
	o := observation{State: &State{}, evicted: map[types.UID]bool{}, unlisted: map[string]bool{}}
	var err error
	if err = o.load(ctx, j); err != nil {
		return nil, err
	}
	if err = o.readNodes(ctx, j, nodes); err != nil {
		return nil, err
	}
	if err = o.readClusters(ctx); err != nil {
		return nil, err
	}
	o.judgeOthers()
	o.Plan = drain.Evaluate(o.Facts)
	return o.State, nil
}

// load lists all objects that facts are made of. Where the user may not list those of all
// namespaces, it lists those of one.
func (o *observation) load(ctx context.Context, j *Job) (err error) {
	o.reader, o.Unseen, err = j.Reader.Preload(ctx, "", true)
	if err == nil && denies(o.Unseen, "pods") && j.Namespace != "" {
		var denied []source.Denial
		o.Partial, denied = j.Namespace, o.Unseen
		if o.reader, o.Unseen, err = j.Reader.Preload(ctx, j.Namespace, true); err == nil {
			if denies(o.Unseen, "pods") {
				o.Partial = "" // not even that one
			}
			o.Unseen = keepUnseen(denied, o.Unseen)
		}
	}
	// Client traffic is no matter of drains.
	o.Unseen = slices.DeleteFunc(o.Unseen, func(d source.Denial) bool { return d.Resource == "services" })
	return err
}

// keepUnseen returns the denials for all namespaces, and those of one namespace that are not among
// them.
func keepUnseen(all, one []source.Denial) []source.Denial {
	for _, d := range one {
		if !denies(all, d.Resource) {
			all = append(all, d)
		}
	}
	return all
}

func denies(denials []source.Denial, resource string) bool {
	return slices.ContainsFunc(denials, func(d source.Denial) bool { return d.Resource == resource })
}

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
		if !ready(&node) {
			n.Warnings = append(n.Warnings, "the node is not Ready: pods that its kubelet does not stop stay, and the drain waits for them")
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
	text := "there is no node " + e.Names[0]
	for _, name := range e.Names[1:] {
		text += ", and no node " + name
	}
	return text
}

// readHosts reads which nodes get new pods.
func (o *observation) readHosts(ctx context.Context) error {
	var all corev1.NodeList
	if err := o.reader.List(ctx, &all); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range all.Items {
		n := &all.Items[i]
		o.Facts.Hosts = append(o.Facts.Hosts, drain.Host{Name: n.Name, Zone: n.Labels[spread.ZoneKey], Open: !n.Spec.Unschedulable && ready(n)})
	}
	return nil
}

// ready reports whether a node is Ready. A node without the condition counts, too: no kubelet has
// reported yet.
func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// readClusters reads the clusters with members on the nodes.
func (o *observation) readClusters(ctx context.Context) error {
	var budgets policyv1.PodDisruptionBudgetList
	if err := o.reader.List(ctx, &budgets); err != nil {
		return fmt.Errorf("list budgets: %w", err)
	}
	o.budgets = budgets.Items
	owners, err := o.reader.Clusters(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(owners, func(a, b owner.Owner) int { return compareOwners(a, b) })
	for _, own := range owners {
		pods, err := o.reader.MemberPods(ctx, own)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return o.node(p.Spec.NodeName) != nil })
		if at < 0 {
			continue
		}
		facts, err := clusterFacts(ctx, o.reader, own, pods[at].Name)
		if err != nil {
			return err
		}
		o.addCluster(ctx, own, facts, pods)
	}
	return nil
}

// clusterFacts reads what the rule about evictions must know, as the eviction guard does. The guard
// knows no members without a StatefulSet, so these are read in another way.
func clusterFacts(ctx context.Context, r *observe.Reader, o owner.Owner, pod string) (eviction.Facts, error) {
	if !o.WithoutStatefulSet() {
		e, err := r.Eviction(ctx, o.Namespace, pod, "")
		if err != nil {
			return eviction.Facts{}, errors.Join(fmt.Errorf("observe %s", o), err)
		}
		return e.Facts, nil
	}
	f, err := r.Facts(ctx, o)
	return eviction.Facts{Cluster: f.Cluster, Pod: pod}, err
}
