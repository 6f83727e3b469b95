// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// findLeft finds out whether members that the restored cluster doesn't have keep their data on claims. If the StatefulSet
// gets more replicas later, by a chart for example, they start as the old cluster: a majority of it elects a leader
// beside the restored cluster.
func (r *Plan) findLeft(ctx context.Context, kube client.Client) error {
	old := max(r.Owner.Replicas, voters(r), int32(len(slices.DeleteFunc(slices.Clone(r.List), func(l etcd.Listed) bool { return l.Learner })))) //nolint:gosec // there are few members
	if r.shared() != "" {
		return nil
	}
	for _, name := range r.claimsFrom(len(r.Members), int(old)) {
		var claim corev1.PersistentVolumeClaim
		err := kube.Get(ctx, client.ObjectKey{Namespace: r.Owner.Namespace, Name: name}, &claim)
		switch {
		case err == nil:
			r.OldSize = old
			return nil
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("read PersistentVolumeClaim %s: %w", name, err)
		}
	}
	return nil
}

// leftClaims returns the claims of members that the restored cluster doesn't have.
func (r Plan) leftClaims() []string {
	if r.shared() != "" {
		return nil
	}
	return r.claimsFrom(len(r.Members), int(r.OldSize))
}

// claimsFrom returns the names of the claims of the ordinals from one on, before another one.
func (r Plan) claimsFrom(from, to int) []string {
	var members []Member
	for ordinal := from; ordinal < to; ordinal++ {
		members = append(members, Member{Pod: r.Owner.PodName(ordinal)})
	}
	return r.ClaimsOf(members)
}
