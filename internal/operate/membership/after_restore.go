// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// ReadAwaiting returns the journal of a restore of which only a scale is left, nil for none.
func ReadAwaiting(ctx context.Context, kube client.Reader, o owner.Owner) (*journal.Journal, error) {
	kept, err := journal.Read(ctx, kube, o)
	if err != nil {
		return nil, err
	}
	if awaits, err := AwaitsScale(ctx, kube, o, kept); err != nil || !awaits {
		return nil, err
	}
	return kept, nil
}

// AwaitsScale reports whether only a scale is left of the restore of a journal, which may be nil.
func AwaitsScale(ctx context.Context, kube client.Reader, o owner.Owner, kept *journal.Journal) (bool, error) {
	if kept == nil || kept.ScaleTo == 0 {
		return false, nil
	}
	sts, err := operate.ReadStatefulSet(ctx, kube, o)
	return err == nil && kept.AwaitsScale(sts), err
}

// ReadScale returns what ReadChange returns, for a scale to so many members. A restore of which only this scale is left
// is no change that is unfinished: the scale takes over its journal. A scale to another number is refused.
func ReadScale(ctx context.Context, kube client.Reader, o owner.Owner, replicas int) (*Change, error) {
	awaits, err := ReadAwaiting(ctx, kube, o)
	switch {
	case err != nil:
		return nil, err
	case awaits == nil:
		return ReadChange(ctx, kube, o)
	case awaits.ScaleTo != replicas:
		return nil, operate.Refuse("%s: %s", o, UnfinishedOther(o, awaits))
	}
	return nil, nil
}

// PlanEnd returns the journal of a restore that awaits a scale for which nothing is left to do, and the plan that removes it.
// Without such a journal it returns the plan that there is nothing to do.
func PlanEnd(ctx context.Context, kube client.Reader, o owner.Owner, nothing operate.Plan) (*journal.Journal, operate.Plan, error) {
	awaits, err := ReadAwaiting(ctx, kube, o)
	if err != nil || awaits == nil {
		return nil, nothing, err
	}
	plan := withoutScale(awaits)
	plan.Title = fmt.Sprintf("end the restore into %s, for which nothing is left to do", o)
	plan.Facts = append(plan.Facts, strings.TrimSuffix(nothing.Already, "."))
	return awaits, plan, nil
}

// PlanLeave returns the journal of a restore of which only a scale is left, and the plan that ends the restore without
// adding a member.
func PlanLeave(ctx context.Context, kube client.Reader, o owner.Owner) (*journal.Journal, operate.Plan, error) {
	awaits, err := ReadAwaiting(ctx, kube, o)
	if err != nil || awaits == nil {
		return nil, operate.Plan{Already: fmt.Sprintf("No scale of %s is left of a restore: there is nothing to undo.", o)}, err
	}
	plan := withoutScale(awaits)
	plan.Title = fmt.Sprintf("leave %s with the members that it has", o)
	return awaits, plan, nil
}

// withoutScale returns the plan to remove the journal of a restore that awaits a scale.
func withoutScale(awaits *journal.Journal) operate.Plan {
	return operate.Plan{
		Subject: fmt.Sprint(awaits.Began.UnixNano(), awaits.ScaleTo), // another restore may have ended since
		Facts:   []string{fmt.Sprintf("a restore, begun %s, has ended, and was to get %s", format.Time(awaits.Began), policy.Count(awaits.ScaleTo, "member"))},
		Steps:   []string{"remove the record of the restore, which alone has that number"},
	}
}

// LeaveNeeds returns the permissions that a restore without its scale uses.
func LeaveNeeds(o owner.Owner) []operate.Need {
	need := operate.NeedIn(o.Namespace)
	return []operate.Need{
		need("get", "apps", "statefulsets", "", o.StatefulSet),
		need("get", "", "configmaps", "", journal.Name(o)), need("delete", "", "configmaps", "", journal.Name(o)),
	}
}
