// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// Missing reports whether the user may not list a kind.
func Missing(unseen []v1alpha1.Unseen, resource string) bool {
	return slices.ContainsFunc(unseen, func(u v1alpha1.Unseen) bool { return u.What == resource })
}

// MissingEvidence returns the kinds that show whether members run and that the user may not
// list.
func MissingEvidence(unseen []v1alpha1.Unseen, distribution string) []string {
	var kinds []string
	for _, kind := range []string{"statefulsets.apps", "pods", "leases.coordination.k8s.io"} {
		needed := kind != "leases.coordination.k8s.io" || flavour.Of(flavour.Name(distribution)).RenewsLeases
		if needed && Missing(unseen, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
