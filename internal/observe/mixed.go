// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// readsPods reports whether this reader knows pods that no StatefulSet made. The manager's cache lacks many of
// them.
func (r *Reader) readsPods() bool { return r.Live == nil && r.names == nil }

// mixed returns the clusters of StatefulSets and pods that no StatefulSet made.
func (r *Reader) mixed(ctx context.Context, pods []corev1.Pod, opts ...client.ListOption) ([]owner.Mixed, error) {
	if !r.readsPods() || len(pods) == 0 {
		return nil, nil
	}
	var sets appsv1.StatefulSetList
	if err := r.List(ctx, &sets, append(opts, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	within := map[string][]*appsv1.StatefulSet{}
	for i := range sets.Items {
		within[sets.Items[i].Namespace] = append(within[sets.Items[i].Namespace], &sets.Items[i])
	}
	podsIn := map[string][]corev1.Pod{}
	for i := range pods {
		if within[pods[i].Namespace] != nil {
			podsIn[pods[i].Namespace] = append(podsIn[pods[i].Namespace], pods[i])
		}
	}
	var out []owner.Mixed
	for namespace, some := range podsIn {
		out = append(out, owner.JoinPods(within[namespace], some)...)
	}
	return out, nil
}

// WithMixed replaces owners of pods by the clusters that they are parts of.
func (r *Reader) WithMixed(ctx context.Context, namespace string, owners []owner.Owner, pods []corev1.Pod) ([]owner.Owner, error) {
	if len(owners) == 0 {
		return owners, nil
	}
	mixed, err := r.mixed(ctx, pods, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) { // the user sees the pods alone, and etcd's list shows the others
		return owners, nil
	}
	return owner.WithPods(owners, mixed), err
}

// withPodsBeside returns the cluster of StatefulSets with the pods that are members beside theirs.
func (r *Reader) withPodsBeside(ctx context.Context, o owner.Owner, sets []*appsv1.StatefulSet) (owner.Owner, error) {
	if !r.readsPods() || len(source.PeersOf(sets[0]).Others) == 0 {
		return o, nil
	}
	pods, err := r.PodsAsDeclared(ctx, client.InNamespace(o.Namespace))
	if apierrors.IsForbidden(err) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	for _, m := range owner.JoinPods(sets, pods) {
		if m.Has(o) {
			return m.With(o), nil
		}
	}
	return o, nil
}
