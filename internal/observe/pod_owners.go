// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// podsKind is the kind of an owner that is no object.
const podsKind = "Pods"

// PodOwners returns the clusters of pods without a StatefulSet, in the order of their names. Pods of
// jobs and pods that have succeeded are no members: snapshots and restores use etcd's image too.
func PodOwners(pods []corev1.Pod) []Owner {
	found := map[types.NamespacedName]*Owner{}
	for i := range pods {
		pod := &pods[i]
		if !isPodsMember(pod) {
			continue
		}
		o := podOwner(pod)
		key := types.NamespacedName{Namespace: o.Namespace, Name: o.Kind + "/" + o.Name}
		if known := found[key]; known == nil {
			found[key] = &o
		} else {
			known.Replicas++
		}
	}
	owners := make([]Owner, 0, len(found))
	for _, o := range found {
		owners = append(owners, *o)
	}
	slices.SortFunc(owners, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return owners
}

// isPodsMember reports whether a pod is a member of a cluster without a StatefulSet.
func isPodsMember(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "StatefulSet" && groupOf(ref) == appsv1.GroupName || ref.Kind == "Job" && groupOf(ref) == "batch" {
			return false
		}
	}
	return etcdconf.RunsEtcd(&pod.Spec)
}

// podOwner returns the cluster of a pod without a StatefulSet. Two pods are members of one cluster
// when it is equal for both.
func podOwner(pod *corev1.Pod) Owner {
	o := Owner{
		Flavour: Pods, APIVersion: "v1", Kind: podsKind, Namespace: pod.Namespace, Name: pod.Name,
		Replicas: 1, Distribution: flavour.UnknownPods, Labels: pod.Labels,
	}
	ref := metav1.GetControllerOf(pod)
	known, ok := flavour.OfPod(pod)
	switch {
	case ok:
		o.Name, o.Distribution = known.Name, known.Product.Name
		o.Selector, o.MemberSelector = known.Selector, known.MemberSelector
		if !known.Kind.Empty() {
			o.APIVersion, o.Kind = known.Kind.GroupVersion().String(), known.Kind.Kind
		}
	case ref != nil && ref.Kind != "Node":
		o.APIVersion, o.Kind, o.Name, o.UID, o.Controller = ref.APIVersion, ref.Kind, ref.Name, ref.UID, ref
	default:
		// Pods that a user created one by one name each other in their initial cluster.
		if names := etcdconf.InitialMemberNames(&pod.Spec); len(names) > 0 {
			o.Name = names[0]
		}
	}
	return o
}

// hasMember reports whether a pod is a member of this cluster, which has no StatefulSet.
func (o Owner) hasMember(pod *corev1.Pod) bool {
	if pod.Namespace != o.Namespace || !isPodsMember(pod) {
		return false
	}
	other := podOwner(pod)
	return other.Kind == o.Kind && other.Name == o.Name && other.UID == o.UID
}
