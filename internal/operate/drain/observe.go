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
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
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
	if err = o.warnHinted(ctx); err != nil {
		return nil, err
	}
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
	slices.SortFunc(owners, compareOwners)
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
	if !o.WithoutStatefulSet() && !o.IsBeside(pod) {
		e, err := r.Eviction(ctx, o.Namespace, pod, "")
		if err != nil {
			return eviction.Facts{}, errors.Join(fmt.Errorf("observe %s", o), err)
		}
		return e.Facts, nil
	}
	f, err := r.Facts(ctx, o)
	return eviction.Facts{Cluster: f.Cluster, Pod: pod}, err
}
