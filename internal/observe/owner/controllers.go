// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TopController returns a pod's controller, and the Deployment instead of its ReplicaSet. The
// name of that ReplicaSet is the Deployment's with the hash of the template, which the pod has
// as a label. Its UID is not known here.
func TopController(pod *corev1.Pod, ref *metav1.OwnerReference) *metav1.OwnerReference {
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	name, made := strings.CutSuffix(ref.Name, "-"+hash)
	if ref.Kind != "ReplicaSet" || GroupOf(ref) != appsv1.GroupName || hash == "" || !made {
		return ref
	}
	return &metav1.OwnerReference{APIVersion: ref.APIVersion, Kind: "Deployment", Name: name, Controller: ref.Controller}
}

// GroupKindOf returns the API group and kind of an owner reference.
func GroupKindOf(ref *metav1.OwnerReference) schema.GroupKind {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
}

// GroupOf returns the API group of an owner reference.
func GroupOf(ref *metav1.OwnerReference) string { return GroupKindOf(ref).Group }
