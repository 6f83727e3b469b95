// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// readsAtOnce is how many pods are read in parallel for one request.
const readsAtOnce = 8

// MemberPods reads the pods of a cluster's members, in the order of their ordinals, or of their
// names where they have none. There are none while the workload doesn't exist.
func (r *Reader) MemberPods(ctx context.Context, o owner.Owner) ([]*corev1.Pod, error) {
	w, err := r.Workload(ctx, o)
	return w.Pods, err
}

// podsOf returns the pods that may be members of a workload: those of its namespace, or, for a Reader that
// reads objects one by one, those that its StatefulSets have or are about to have. Those that the cache doesn't have
// are read in that way, too: the namespace may have thousands of others.
func (r *Reader) podsOf(ctx context.Context, w *Workload) ([]corev1.Pod, error) {
	switch {
	case w.owner.WithoutStatefulSet():
	case r.names != nil:
		return r.podsByName(ctx, w)
	case r.Live != nil && slices.ContainsFunc(w.Sets(), source.Uncached):
		return r.ByName().podsByName(ctx, w)
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(w.owner.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", w.owner, err)
	}
	return pods.Items, nil
}

// podsByName reads the pods of a workload one by one: there may be thousands of others.
func (r *Reader) podsByName(ctx context.Context, w *Workload) ([]corev1.Pod, error) {
	names, err := r.podNamesOf(ctx, w)
	if err != nil {
		return nil, err
	}
	return r.podsNamed(ctx, w.owner.Namespace, names)
}

// podsNamed reads the pods of these names that exist.
func (r *Reader) podsNamed(ctx context.Context, namespace string, names []string) ([]corev1.Pod, error) {
	pods := make([]*corev1.Pod, len(names))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(readsAtOnce)
	for i, name := range names {
		group.Go(func() error {
			var pod corev1.Pod
			found, err := r.Fetch(within, namespace, name, &pod)
			if err != nil {
				return fmt.Errorf("observe pod %s/%s: %w", namespace, name, err)
			}
			if found {
				pods[i] = &pod
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var out []corev1.Pod
	for _, pod := range pods {
		if pod != nil {
			out = append(out, *pod)
		}
	}
	return out, nil
}

// podNamesOf returns the names of the pods that the StatefulSets of a workload have by their replicas
// and status, of those that the cache knows beside these, which have no replica any more, and of members that have no
// StatefulSet.
func (r *Reader) podNamesOf(ctx context.Context, w *Workload) ([]string, error) {
	names := slices.Clone(w.owner.PodsBeside)
	for _, sts := range w.Sets() {
		part := owner.OfStatefulSet(sts)
		n := max(owner.ReplicasOf(sts), int(sts.Status.Replicas))
		if n > owner.MaxMembersRead {
			return nil, fmt.Errorf("StatefulSet %s/%s has %d pods, and no etcd cluster has more than %d members", sts.Namespace, sts.Name, n, owner.MaxMembersRead)
		}
		for ordinal := range n {
			names = append(names, part.PodName(ordinal))
		}
		cached, err := r.cachedPods(ctx, sts)
		if err != nil {
			return nil, err
		}
		for i := range cached {
			name := cached[i].Name
			if at := part.Ordinal(name); (at < 0 || at >= n) && metav1.IsControlledBy(&cached[i], sts) {
				names = append(names, name)
			}
		}
	}
	return names[:min(len(names), mostNames)], nil
}

// mostNames bounds how many pods are read for one request, however many the cache knows.
const mostNames = 3 * owner.MaxMembersRead

// cachedPods lists the pods with the labels of a StatefulSet's: its controller gives up any other.
func (r *Reader) cachedPods(ctx context.Context, sts *appsv1.StatefulSet) ([]corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(sts.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("selector of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	var pods corev1.PodList
	err = r.names.List(ctx, &pods, client.InNamespace(sts.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list pods of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return pods.Items, nil
}

// formerly returns the workload of a StatefulSet that is created, with the pods of one that had its
// name: the new one takes them over, and deletes those that it has no replica for.
func (r *Reader) formerly(ctx context.Context, o owner.Owner, sts *appsv1.StatefulSet) (Workload, error) {
	w := Workload{owner: o, StatefulSet: sts}
	cached, err := r.cachedPods(ctx, sts)
	if err != nil {
		return w, err
	}
	names := map[string]bool{}
	for ordinal := range min(owner.FirstOrdinal(sts.Spec.Ordinals)+owner.ReplicasOf(sts), owner.MaxMembersRead) {
		names[sts.Name+"-"+strconv.Itoa(ordinal)] = true
	}
	for i := range cached {
		if name := cached[i].Name; owner.OrdinalOf(name, sts.Name, 0) >= 0 && len(names) < mostNames {
			names[name] = true
		}
	}
	pods, err := r.podsNamed(ctx, sts.Namespace, slices.Sorted(maps.Keys(names)))
	for i := range pods {
		pod := &pods[i]
		ref := metav1.GetControllerOfNoCopy(pod)
		// Its reference goes a moment after the StatefulSet has gone.
		former := ref == nil || ref.Kind == "StatefulSet" && ref.Name == sts.Name
		if former && pod.DeletionTimestamp == nil {
			w.Pods = append(w.Pods, w.declared(pod))
		}
	}
	return w, err
}
