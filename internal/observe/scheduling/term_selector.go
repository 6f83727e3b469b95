// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TermSelector returns the selector of the terms of a cluster of some size: see owner.TermSelector.
func TermSelector(ctx context.Context, r *observe.Reader, o owner.Owner, size int) (*metav1.LabelSelector, error) {
	if o.WithoutStatefulSet() || o.Spans() {
		return o.TermSelector(false, size), nil
	}
	members, err := metav1.LabelSelectorAsSelector(o.MemberSelector)
	if err != nil {
		return nil, fmt.Errorf("selector of %s: %w", o, err)
	}
	var sets appsv1.StatefulSetList
	if err := r.List(ctx, &sets, client.InNamespace(o.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list StatefulSets in namespace %s: %w", o.Namespace, err)
	}
	shared := false
	for i := range sets.Items {
		s := &sets.Items[i]
		shared = shared || s.Name != o.StatefulSet && members.Matches(labels.Set(s.Spec.Template.Labels))
	}
	return o.TermSelector(shared, max(size, int(o.Replicas))), nil
}
