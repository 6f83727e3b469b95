// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// Judge finds what is installed, and returns it with the plan to uninstall it. Unless planOnly, it
// returns an error if a permission is missing, another operation holds a lock that the
// uninstallation needs, or the API server rejects a write in a dry run.
func (u *Uninstaller) Judge(ctx context.Context, planOnly bool) (*Installation, operate.Plan, error) {
	found, err := Find(ctx, u.Kube, u.Inventory)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	u.judgeRollouts(ctx, found)
	for i := range found.Budgets {
		found.Sizes = append(found.Sizes, u.sizeWarnings(ctx, &found.Budgets[i])...)
	}
	if err := u.judgeCuts(ctx, found); err != nil {
		return nil, operate.Plan{}, err
	}
	switch {
	case found.Empty() && (!u.All || len(found.Policies)+len(found.Definition) == 0):
		return found, u.nothingInstalled(found), nil
	case planOnly:
		return found, u.Plan(found), nil
	}
	return found, u.Plan(found), u.may(ctx, found)
}

// nothingInstalled warns of namespaces that remain and of rollouts that stay held, and returns the plan that has nothing to do.
func (u *Uninstaller) nothingInstalled(found *Installation) operate.Plan {
	for _, s := range found.Retained {
		u.Warnf("%s.", s)
	}
	for _, h := range found.Held {
		u.Warnf("%s", u.staysHeld(h))
	}
	for _, s := range found.StaysCut {
		u.Warnf("%s", u.staysCut(s))
	}
	text := "none of its objects exists."
	if len(found.Policies)+len(found.Definition) > 0 {
		text = fmt.Sprintf("only policies (%d) and their definition remain. --all deletes them.", len(found.Policies))
	}
	return operate.Plan{Already: "etcd-webhook is not installed, and " + text}
}

// may checks the permissions and the locks, and tries all writes.
func (u *Uninstaller) may(ctx context.Context, found *Installation) error {
	needs := u.Needs(found)
	var cut []owner.Owner
	for i := range found.Cut {
		o, err := u.ownerOfService(ctx, &found.Cut[i])
		if err != nil {
			return err
		}
		if o != nil {
			cut = append(cut, *o)
			needs = append(needs, lock.Needs(*o)...)
			needs = append(needs, operate.Need{Verb: "patch", Group: coordinationv1.GroupName, Resource: "leases", Namespace: o.Namespace, Name: lock.Name(*o)})
		}
	}
	if err := u.Require(ctx, needs); err != nil {
		return err
	}
	if err := u.checkLocks(ctx, found, cut); err != nil {
		return err
	}
	return u.Try(ctx, found)
}

// ownerOfService returns the first cluster to which a Service leads. It is nil if there is none.
func (u *Uninstaller) ownerOfService(ctx context.Context, service *corev1.Service) (*owner.Owner, error) {
	owners, err := memberservices.Clusters(ctx, u.Reader, service)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	return &owners[0], nil
}
