// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// SharedFacts reads what must be known for the number of a budget that can't protect a
// cluster alone: f are the facts of one of its clusters. As is the budget as it is given, nil
// for as it is. A Reader for one decision must be given the same one each time.
func (r *Reader) SharedFacts(ctx context.Context, f Facts, o *Other, as *policyv1.PodDisruptionBudget) (budget.SharedFacts, error) {
	out := budget.SharedFacts{
		Shares: []budget.Share{f.share(o.Pods)}, NonMemberPods: o.NonMembers,
		Current: o.Value.Min(o.Expected), State: o.Record.State, Now: f.At, Unconfirmed: !f.Confirmed,
	}
	if o.Fault == nil {
		var record annotation.BudgetRecord
		out.Current, record = f.Budgets.InForce(out.Current, o.Record, o.NonMembers)
		out.State = record.State
	}
	if r.memo == nil {
		r = r.Remembering()
	}
	for _, sharer := range o.Sharers {
		facts, err := r.sharerFacts(ctx, sharer, as)
		if err != nil {
			return out, fmt.Errorf("observe %s: %w", sharer, err)
		}
		if pods, shares := facts.pods[o.Name]; shares {
			out.Shares = append(out.Shares, facts.share(pods))
			out.Unconfirmed = out.Unconfirmed || !facts.Confirmed
		}
	}
	return out, nil
}

// share returns the part of a cluster that a budget selects. The times of the cluster run on the budget that
// protects it.
func (f Facts) share(pods []string) budget.Share {
	out := budget.Share{Cluster: f.Cluster, Pods: pods}
	if kept := f.Budgets.Managed; kept != nil {
		out.State = &kept.Record.State
	}
	return out
}

// nonMembers counts the Ready pods beside the members that a budget selects, and finds the
// other clusters whose members are among its pods. The cache has no pods of Deployments and
// DaemonSets: where the disruption controller counts more than it has, the API server is
// asked. If that doesn't answer, the disruption controller's number counts.
func (r *Reader) nonMembers(ctx context.Context, w *Workload, o *Other) error {
	members, err := r.around(ctx, r.Reader, w, o)
	if err != nil {
		return err
	}
	counted := int(o.Status.CurrentHealthy)
	if r.Live == nil || counted <= members+o.NonMembers {
		return nil
	}
	seen := *o
	if _, err := r.around(ctx, r.Live, w, o); err != nil {
		*o = seen
		o.NonMembers = counted - members
	}
	return nil
}

// around fills in the pods that are no members and the sharers, and returns the Ready members of any
// cluster among a budget's pods.
func (r *Reader) around(ctx context.Context, from client.Reader, w *Workload, o *Other) (members int, err error) {
	pods, err := podsOfBudget(ctx, from, o.PodDisruptionBudget)
	if err != nil {
		return 0, err
	}
	o.NonMembers, o.Sharers = 0, nil
	for i := range pods {
		pod := &pods[i]
		ready := podstate.Ready(pod)
		if w.has(pod) {
			members += count(ready)
			continue
		}
		other, found, err := r.ownerOfCounted(ctx, pod)
		switch {
		case err != nil:
			return 0, err
		case !found || other.UID == w.owner.UID:
			o.NonMembers += count(ready)
			continue
		case !slices.ContainsFunc(o.Sharers, func(s owner.Owner) bool { return s.UID == other.UID }):
			o.Sharers = append(o.Sharers, other)
		}
		members += count(ready)
	}
	return members, nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
