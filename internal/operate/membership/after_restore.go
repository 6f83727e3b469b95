// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	if err != nil || kept == nil || kept.ScaleTo == 0 {
		return nil, err
	}
	sts, err := operate.ReadStatefulSet(ctx, kube, o)
	if err != nil || !kept.AwaitsScale(sts) {
		return nil, err
	}
	return kept, nil
}

// AwaitsScale reports whether only a scale is left of a restore. It is false if the user may not read that: the
// permissions are checked later.
func AwaitsScale(ctx context.Context, kube client.Reader, o owner.Owner) (bool, error) {
	if !journal.CanExist(o) {
		return false, nil
	}
	awaits, err := ReadAwaiting(ctx, kube, o)
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return awaits != nil, err
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

// EndAwaiting removes the journal of a restore that awaits a scale for which nothing is left to do.
func EndAwaiting(ctx context.Context, kube client.Client, o owner.Owner) error {
	awaits, err := ReadAwaiting(ctx, kube, o)
	if err != nil || awaits == nil {
		return err
	}
	return awaits.DeleteUnchanged(ctx, kube)
}

// PlanLeave returns the journal of a restore of which only a scale is left, and the plan that ends the restore without
// adding a member.
func PlanLeave(ctx context.Context, kube client.Reader, o owner.Owner) (*journal.Journal, operate.Plan, error) {
	awaits, err := ReadAwaiting(ctx, kube, o)
	if err != nil || awaits == nil {
		return nil, operate.Plan{Already: fmt.Sprintf("No scale of %s is left of a restore: there is nothing to undo.", o)}, err
	}
	return awaits, operate.Plan{
		Title:   fmt.Sprintf("leave %s with the members that it has", o),
		Subject: fmt.Sprint(awaits.Began.UnixNano(), awaits.ScaleTo), // another restore may have ended since
		Facts:   []string{fmt.Sprintf("a restore, begun %s, has ended, and was to get %s", format.Time(awaits.Began), policy.Count(awaits.ScaleTo, "member"))},
		Steps:   []string{"remove the record of the restore, which alone has that number"},
	}, nil
}

// LeaveNeeds returns the permissions that a restore without its scale uses.
func LeaveNeeds(o owner.Owner) []operate.Need {
	need := operate.NeedIn(o.Namespace)
	return []operate.Need{
		need("get", "apps", "statefulsets", "", o.StatefulSet),
		need("get", "", "configmaps", "", journal.Name(o)), need("delete", "", "configmaps", "", journal.Name(o)),
	}
}
