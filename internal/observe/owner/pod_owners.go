// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// podsKind is the kind of an owner that is no object.
const podsKind = "Pods"

// OfPods returns the clusters of pods without a StatefulSet, in the order of their names. Pods of
// jobs and pods that have succeeded are no members: snapshots and restores use etcd's image too.
func OfPods(pods []corev1.Pod) []Owner {
	groups := GroupPods(pods)
	owners := make([]Owner, 0, len(groups))
	for _, g := range groups {
		owners = append(owners, g.Owner)
	}
	return owners
}

// IsPodsMember reports whether a pod is a member of a cluster without a StatefulSet.
func IsPodsMember(pod *corev1.Pod) bool {
	return CountsAsMember(pod) && etcdconf.RunsEtcd(pod)
}

// CountsAsMember reports whether a pod would be a member if it ran etcd: it has not ended, and
// neither a StatefulSet nor a Job made it.
func CountsAsMember(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "StatefulSet" && GroupOf(ref) == appsv1.GroupName || ref.Kind == "Job" && GroupOf(ref) == "batch" {
			return false
		}
	}
	return true
}

// OfPod returns the object that a pod without a StatefulSet is made for: its operator's cluster,
// the manifest of its nodes, its Deployment or other controller, or the pod itself.
func OfPod(pod *corev1.Pod) Owner {
	o := ownPod(pod)
	ref := metav1.GetControllerOf(pod)
	known, ok := flavour.OfPod(pod)
	if ok {
		o.Name, o.Distribution = known.Name, known.Product.Name
		o.Selector, o.MemberSelector = known.Selector, known.MemberSelector
		if !known.Kind.Empty() {
			o.APIVersion, o.Kind = known.Kind.GroupVersion().String(), known.Kind.Kind
		}
	}
	switch {
	case ref == nil:
	case ref.Kind == "Node":
		o.Name = manifestOf(pod)
	case !ok:
		o.Controller = TopController(pod, ref)
		o.APIVersion, o.Kind, o.Name, o.UID = o.Controller.APIVersion, o.Controller.Kind, o.Controller.Name, o.Controller.UID
	}
	return o
}

// ownPod returns the owner that a pod is itself.
func ownPod(pod *corev1.Pod) Owner {
	return Owner{
		WorkloadKind: Pods, APIVersion: "v1", Kind: podsKind, Namespace: pod.Namespace, Name: pod.Name,
		Replicas: 1, Distribution: flavour.UnknownPods, Labels: pod.Labels,
	}
}

// MadeByOperator returns the cluster of a pod that an operator creates itself, and false for any
// other pod.
func MadeByOperator(pod *corev1.Pod) (flavour.PodCluster, bool) {
	made, ok := flavour.OfPod(pod)
	return made, ok && made.Controlled
}

// IsMadeByOperator reports whether an operator creates a pod itself.
func IsMadeByOperator(pod *corev1.Pod) bool {
	_, ok := MadeByOperator(pod)
	return ok
}
