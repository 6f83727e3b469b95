// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// webhookInstalled reports whether etcd-webhook is installed. It is read only if there is an object of
// etcd-webhook's.
func (v *view) webhookInstalled(ctx context.Context) rules.Known {
	is, err := v.installed.get(func() (bool, error) { return v.Webhook.Installed(ctx) })
	if err != nil {
		return v.unsure("etcd-webhook", err)
	}
	return rules.Of(is)
}

// findRollouts returns the StatefulSets whose rollout is held.
func (v *view) findRollouts(ctx context.Context) ([]Item, error) {
	held, err := v.Webhook.Rollouts(ctx, v.namespace)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range held {
		items = append(items, v.rolloutItem(ctx, &held[at]))
	}
	return items, nil
}

func (v *view) rolloutItem(ctx context.Context, sts *appsv1.StatefulSet) Item {
	i := Item{Resource: "statefulsets", Group: appsv1.GroupName, Cluster: sts.Name, object: sts, names: []string{sts.Name}}
	if at, err := time.Parse(time.RFC3339, sts.Annotations[v1alpha1.RolloutSinceAnnotation]); err == nil {
		i.Since = at
	}
	i.Facts.Installed = v.webhookInstalled(ctx)
	o, found, err := v.Reader.OwnerOfStatefulSet(ctx, sts)
	i.Facts.Locked = v.locked(ctx, sts.Namespace, locksOf(nil, sts.Name)...)
	switch {
	case err != nil:
		i.Facts.Cluster = v.unsure("the cluster of StatefulSet "+sts.Namespace+"/"+sts.Name, err)
	case !found:
		i.Facts.Cluster, i.Facts.Governed, i.Facts.Well = rules.No, rules.No, rules.Yes
	default:
		i.Owner, i.Facts.Cluster = &o, rules.Yes
		i.Facts.Locked = v.locked(ctx, sts.Namespace, locksOf(&o, sts.Name)...)
		i.Facts.Governed, i.Facts.Well = v.governed(ctx, o), v.releasable(ctx, o, sts)
	}
	return i
}

// governed reports whether a policy applies to a cluster.
func (v *view) governed(ctx context.Context, o owner.Owner) rules.Known {
	match, err := topologypolicy.For(ctx, v.Reader, o)
	switch {
	case meta.IsNoMatchError(err):
		return rules.No // the kind is not installed
	case err != nil:
		return v.unsure("etcdtopologypolicies.policy.kubectl-etcd.dev", err)
	}
	return rules.Of(match.Policy != nil)
}

// releasable reports whether the rollout of a StatefulSet may be released, as when etcd-webhook is removed.
// What it recorded last is not renewed any more, and may have been removed with the record of a budget. So if nothing
// else holds the rollout, and the pods may not show that a member is not in order, the members are asked.
func (v *view) releasable(ctx context.Context, o owner.Owner, sts *appsv1.StatefulSet) rules.Known {
	r := rollouts.ReadRemovalOnce(ctx, v.Reader, sts)
	if r.Unread != "" {
		return v.unsure("the state of the cluster of StatefulSet "+sts.Namespace+"/"+sts.Name, errors.New(r.Unread))
	}
	if r.Recorded = ""; r.StaysHeld() != "" {
		return rules.No
	}
	if !r.Hidden || r.Cluster.Single() {
		return rules.Yes
	}
	s, err := v.survey(ctx, o)
	if err != nil {
		return v.unsure("the members of "+o.String(), err)
	}
	return rules.Of(restore.Agree(s, r.Cluster.Size, 0) == nil)
}

// findBudgets returns the disruption budgets that etcd-webhook created or changed.
func (v *view) findBudgets(ctx context.Context) ([]Item, error) {
	all, err := v.Webhook.Budgets(ctx, v.namespace)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range all {
		items = append(items, v.budgetItem(ctx, &all[at]))
	}
	return items, nil
}

func (v *view) budgetItem(ctx context.Context, budget *policyv1.PodDisruptionBudget) Item {
	i := Item{Resource: "poddisruptionbudgets", Group: policyv1.GroupName, object: budget}
	i.Facts.Installed = v.webhookInstalled(ctx)
	kind, name, named := strings.Cut(budget.Annotations[v1alpha1.BudgetForAnnotation], "/")
	if !named { // only evictions are recorded on it
		i.Facts.Locked = v.locked(ctx, budget.Namespace)
		return i
	}
	i.Cluster, i.names, i.warnings = name, []string{name}, v.Webhook.SizeWarnings(ctx, budget)
	i.Facts.Locked = v.locked(ctx, budget.Namespace, lock.Name(owner.Owner{Kind: kind, Name: name}))
	if owners, err := v.readOwners(ctx); err == nil {
		i.Owner = ownerLockedBy(owners, budget.Namespace, lock.Name(owner.Owner{Kind: kind, Name: name}))
	}
	return i
}

// created reports whether etcd-webhook created a budget, and it is no copy.
func created(budget *policyv1.PodDisruptionBudget) bool { return observe.NotCopied(budget) }
