// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Other is a disruption budget that selects members, and that can't protect the cluster alone.
type Other struct {
	Budget
	// Fault is why it can't protect the cluster alone, nil for a budget that can.
	Fault *policy.Note
	// Unreadable is true where no value can be set in its fields.
	Unreadable bool
	// Pods are the members' pods that it selects.
	Pods []string
	// NonMembers counts the Ready pods that it selects and that are no cluster's members.
	NonMembers int
	// Sharers are the other clusters whose members it selects.
	Sharers []owner.Owner
	// Expected is what the disruption controller counts maxUnavailable from.
	Expected int
}

// judged is a budget with what is wrong with it.
type judged struct {
	Other
	// weakness is what makes it protect less than a budget of ours would, nil for nothing.
	weakness *policy.Note
	// replaces is true if ours goes for it, nothing else being wrong.
	replaces bool
}

// judge returns what a budget that selects members is worth. toSelect are the labels of all members.
func (r *Reader) judge(ctx context.Context, w *Workload, pdb *policyv1.PodDisruptionBudget, toSelect []labels.Set) (judged, error) {
	j := judged{Other: Other{Budget: Budget{
		PodDisruptionBudget: pdb, Record: annotation.DecodeBudgetRecord(pdb.Annotations, r.Leases.Clock.Now()),
	}}}
	selector := budgetSelector(pdb)
	for _, pod := range w.Pods {
		if selector.Matches(labels.Set(pod.Labels)) {
			j.Pods = append(j.Pods, pod.Name)
		}
	}
	if j.Value, j.Fault = annotation.ValueOf(pdb.Name, &pdb.Spec); j.Fault != nil && !j.takeLastWritten(w) {
		j.Unreadable = true
		return j, nil
	}
	if err := r.nonMembers(ctx, w, &j.Other); err != nil {
		return j, err
	}
	j.expect(w)
	some, all := matching(pdb, toSelect), len(toSelect)
	switch {
	case annotation.SelectsNamespace(pdb) != nil:
		j.Fault = annotation.SelectsNamespace(pdb)
	case some < all:
		j.Fault = &policy.Note{Reason: reasons.BudgetPartial, Message: fmt.Sprintf(
			"budget %s can't protect the members alone: it selects %d of the %d members of %s; let its selector match all", pdb.Name, some, all, w.owner)}
	case len(j.Sharers) > 0:
		j.Fault = &policy.Note{Reason: reasons.BudgetShared, Message: fmt.Sprintf(
			"budget %s can't protect the members alone: it selects members of both %s and %s, and no one number is right for two clusters; give each its own", pdb.Name, w.owner, j.Sharers[0])}
	}
	j.weaken(w)
	j.replaces = j.weakness == nil || r.GuardsUnready && j.weakness.Reason == reasons.BudgetAlwaysAllow
	return j, nil
}

// weaken finds what makes a budget that selects all members protect less than ours would.
func (j *judged) weaken(w *Workload) {
	pdb := j.PodDisruptionBudget
	if j.weakness == nil {
		j.weakness = annotation.AlwaysAllows(pdb)
	}
	if pdb.DeletionTimestamp != nil {
		j.weakness = &policy.Note{Reason: reasons.BudgetGoing, Message: fmt.Sprintf(
			"budget %s is being deleted, and protects %s until its finalizers are gone", pdb.Name, w.owner)}
	}
	if j.weakness == nil && j.NonMembers > 0 && !w.owner.Product().JobsShareLabels {
		j.weakness = &policy.Note{Reason: reasons.BudgetNotAlone, Message: fmt.Sprintf(
			"budget %s also selects %d Ready pods that are no members of %s; let its selector match the members only", pdb.Name, j.NonMembers, w.owner)}
	}
}

// takeLastWritten gives a budget without a number that this project created for the cluster the one that was written
// last, and reports whether it is such a budget. Without a record of the number, all pods remain.
func (j *judged) takeLastWritten(w *Workload) bool {
	if !NotCopied(j.PodDisruptionBudget) || !w.hasRecord(j.PodDisruptionBudget) {
		return false
	}
	j.NoNumber, j.Value = true, annotation.BudgetValue{Field: annotation.MinAvailable, N: w.replicas()}
	if j.Record.Value != nil {
		j.Value = *j.Record.Value
	}
	j.weakness, j.Fault = &policy.Note{Reason: j.Fault.Reason, Message: fmt.Sprintf(
		"budget %s gets its number %s again: without one, it refuses every eviction", j.Name, j.Value)}, nil
	return true
}

// expect finds what the disruption controller counts maxUnavailable from: the replicas of
// the workloads, and with other pods the number in its status.
func (o *Other) expect(w *Workload) {
	o.Expected = w.replicas()
	if o.NonMembers > 0 && o.Value.Field == annotation.MaxUnavailable && o.Status.ObservedGeneration > 0 {
		o.Expected = int(o.Status.ExpectedPods)
		return
	}
	for _, sharer := range o.Sharers {
		o.Expected += int(sharer.Replicas)
	}
}

// choose judges all budgets that select members, and takes a foreign one that protects the
// cluster alone where there is one, else ours. Ours goes only for such a foreign one.
func (r *Reader) choose(ctx context.Context, w *Workload, recorded, ours, foreign []*policyv1.PodDisruptionBudget) (Budgets, error) {
	b := Budgets{Detached: recorded}
	for _, pdb := range slices.Concat(recorded, ours, foreign) {
		b.recordSize(w, pdb, r.Leases.Clock.Now())
	}
	slices.SortFunc(ours, func(x, y *policyv1.PodDisruptionBudget) int {
		return x.CreationTimestamp.Compare(y.CreationTimestamp.Time)
	})
	// A foreign budget must also select the members that a scaled-in cluster may get again.
	asked, lasting := w.labelsToSelect(0), w.labelsToSelect(b.Largest.N)
	var whole, rest, mine []judged
	for _, pdb := range slices.Concat(foreign, ours) {
		toSelect := lasting
		if Ours(pdb) {
			toSelect = asked
		}
		j, err := r.judge(ctx, w, pdb, toSelect)
		err = cmp.Or(err, ctx.Err()) // the cache answers also after a deadline
		switch {
		case err != nil:
			return b, err
		case j.Unreadable && w.hasRecord(pdb) && !Ours(pdb):
			b.Detached = append(b.Detached, pdb)
			rest = append(rest, j)
		case j.Fault != nil && !w.outdated(&j):
			rest = append(rest, j)
		case Ours(pdb):
			mine = append(mine, j)
		default:
			whole = append(whole, j)
		}
	}
	slices.SortStableFunc(mine, func(x, y judged) int { return count(x.Fault != nil) - count(y.Fault != nil) })
	b.take(w, whole, rest, mine)
	return b, nil
}

// outdated reports whether the selector of a budget that this project created for the cluster must change: the
// cluster had other workloads then, or another client has changed the selector.
func (w *Workload) outdated(j *judged) bool {
	switch j.Fault.Reason {
	case reasons.BudgetPartial, reasons.BudgetShared, reasons.BudgetSelectsAll:
		return w.reselected(j.PodDisruptionBudget)
	}
	return false
}

// reselected reports whether this project created a budget for the cluster and its selector is not the cluster's. Such
// a budget is repaired, also if it selects no member that exists now.
func (w *Workload) reselected(pdb *policyv1.PodDisruptionBudget) bool {
	return NotCopied(pdb) && w.hasRecord(pdb) && !equality.Semantic.DeepEqual(pdb.Spec.Selector, w.owner.MemberSelector)
}

// take sorts the budgets that can protect the cluster alone, those that can't, and ours.
func (b *Budgets) take(w *Workload, whole, rest, mine []judged) {
	switch {
	case len(whole) == 1 && (whole[0].replaces || len(mine) == 0):
		b.keep(whole[0])
		b.surplus(mine, b.taken(w))
	case len(whole) > 1:
		b.overlapping(w, whole, mine)
	case len(mine) > 0:
		b.keep(mine[0])
		b.surplus(mine[1:], b.taken(w))
		for _, j := range whole {
			b.Notes = append(b.Notes, *j.weakness)
		}
		b.others(whole)
	case len(rest) > 1 && sharePod(rest):
		b.Problem = overlap(rest)
	case len(rest) > 0:
		b.Problem = rest[0].Fault
	default:
		b.Problem = noBudget(w.owner)
	}
	if b.Managed != nil {
		for _, j := range rest {
			b.Notes = append(b.Notes, *j.Fault)
		}
	}
	b.others(rest)
	b.noteBlocked()
}

// noteBlocked adds a note on the budgets that select pods of the budget that protects the cluster, too.
func (b *Budgets) noteBlocked() {
	if len(b.Blocked()) == 0 {
		return
	}
	both := []judged{{Other: Other{Budget: *b.Managed}}}
	for _, o := range b.Others {
		if len(o.Pods) > 0 {
			both = append(both, judged{Other: o})
		}
	}
	b.Notes = append(b.Notes, *overlap(both))
}

// Blocked returns the members' pods that another budget selects beside the one that protects the cluster. Their eviction
// fails.
func (b *Budgets) Blocked() map[string]bool {
	blocked := map[string]bool{}
	for _, o := range b.Others {
		for _, pod := range o.Pods {
			if b.Managed != nil {
				blocked[pod] = true
			}
		}
	}
	return blocked
}

// overlapping sorts several budgets of authors over all members. One without a record takes over what the others keep.
func (b *Budgets) overlapping(w *Workload, whole, mine []judged) {
	b.Problem = overlap(whole)
	b.others(whole)
	taken := !slices.ContainsFunc(whole, func(j judged) bool { return !w.hasRecord(j.PodDisruptionBudget) })
	b.surplus(mine, taken)
	for _, j := range whole {
		if !taken && w.hasRecord(j.PodDisruptionBudget) && j.madeStricter() {
			b.stands(j)
		}
	}
}

// noBudget describes members that no budget selects. etcd-webhook makes budgets for StatefulSets only.
func noBudget(o owner.Owner) *policy.Note {
	how := "create one, or set disruption.createMissing in the policy"
	if o.WithoutStatefulSet() {
		how = "create one, because etcd-webhook creates none for pods without a StatefulSet"
	}
	return &policy.Note{Reason: reasons.NoBudget, Message: fmt.Sprintf("no budget selects the members of %s, so a drain may evict all of them: %s", o, how)}
}

func (b *Budgets) keep(j judged) {
	b.Managed, b.NonMemberPods = &j.Budget, j.NonMembers
	if j.Fault != nil {
		b.Outdated, b.Notes = j.Fault, append(b.Notes, *j.Fault)
	}
	if j.weakness != nil && j.weakness.Reason != reasons.BudgetNotAlone {
		b.Notes = append(b.Notes, *j.weakness)
	}
}

// taken reports whether the budget that remains has taken over what others kept. Its record shows that. They are taken over
// once: one whose deletion is refused, or waits for a finalizer, and one that overlaps, would make it stricter again after
// each settle time.
func (b *Budgets) taken(w *Workload) bool {
	return b.Outdated == nil && w.hasRecord(b.Managed.PodDisruptionBudget)
}

// surplus lists those of ours that must go. taken is true if others have taken over what they keep.
func (b *Budgets) surplus(mine []judged, taken bool) {
	for _, j := range mine {
		b.Duplicates = append(b.Duplicates, j.PodDisruptionBudget)
		if !taken {
			b.stands(j)
		}
	}
}

func (b *Budgets) others(all []judged) {
	for _, j := range all {
		if !slices.Contains(b.Detached, j.PodDisruptionBudget) {
			b.Others = append(b.Others, j.Other)
		}
	}
}

// sharePod reports whether two budgets select the same member.
func sharePod(all []judged) bool {
	seen := map[string]bool{}
	for _, j := range all {
		for _, pod := range j.Pods {
			if seen[pod] {
				return true
			}
			seen[pod] = true
		}
	}
	return false
}
