// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// UnknownPods clusters are pods without a StatefulSet and without a known operator.
const UnknownPods Name = "pods"

// Nothing is the ManagerName, as the subject of a sentence, of pods that no operator made: a user or
// one of Kubernetes' own controllers did.
const Nothing = "nothing in the cluster"

var pods = Product{
	Name: UnknownPods,
	Membership: Membership{
		Manager: ByOperator, ManagerName: Nothing,
		ScaleHow: "create or delete the pod of one member where its manifest is, and change the member list with " +
			"etcdctl member add or etcdctl member remove, one member at a time",
		ReplaceHow: "remove the old member with etcdctl member remove, add a new one with etcdctl member add, and create its pod again " +
			"with an empty data directory, and with the initial cluster and its state that etcdctl prints",
	},
}

// PodCluster is the cluster of a pod that no StatefulSet made, by the product's own labels.
type PodCluster struct {
	Product Product
	// Kind is the kind of the cluster's object; empty where there is no object.
	Kind schema.GroupVersionKind
	Name string
	// Controlled is true if an object of the product controls the pod. Otherwise its labels and names show the cluster.
	Controlled bool
	// Selector selects the cluster's pods, MemberSelector its members' pods alone.
	Selector, MemberSelector *metav1.LabelSelector
}

// OfPod recognises the product and the cluster of a pod that no StatefulSet made. False
// for the pods of no known product.
func OfPod(pod *corev1.Pod) (PodCluster, bool) {
	for _, p := range products {
		if p.Pods == nil {
			continue
		}
		c := PodCluster{Product: p, Controlled: p.controlsGroup(metav1.GetControllerOfNoCopy(pod))}
		match := map[string]string{}
		switch by := p.Pods; {
		case by.ClusterLabel != "" && pod.Labels[by.ClusterLabel] != "" && (c.Controlled || by.createsReplicaSetOf(pod)):
			c.Name = pod.Labels[by.ClusterLabel]
			match[by.ClusterLabel] = c.Name
		case by.Mirror && has(pod, corev1.MirrorPodAnnotationKey) && has(pod, by.Annotation) && pod.Labels[by.Label.Key] == by.Label.Value:
			c.Name = by.Label.Value
			match[by.Label.Key] = by.Label.Value
		default:
			continue
		}
		if len(p.Controllers) > 0 {
			c.Kind = p.Controllers[0]
		}
		c.Selector = &metav1.LabelSelector{MatchLabels: match}
		c.MemberSelector = c.Selector
		if m := p.Pods.Members; m.Key != "" {
			c.MemberSelector = c.Selector.DeepCopy()
			metav1.AddLabelToSelector(c.MemberSelector, m.Key, m.Value)
		}
		return c, true
	}
	return PodCluster{}, false
}

// controlsGroup reports whether a controller is of an API group of the product. It may be an object of one member.
func (p Product) controlsGroup(ref *metav1.OwnerReference) bool {
	return ref != nil && slices.ContainsFunc(p.Controllers, func(c schema.GroupVersionKind) bool {
		return c.Group == schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group
	})
}

// createsReplicaSetOf reports whether the ReplicaSet of a pod is one that the product creates for a member: its name is
// the member's, which begins with the cluster's, and no Deployment made it.
func (by *Pods) createsReplicaSetOf(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	if by.MemberLabel == "" || ref == nil || schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() != (schema.GroupKind{Group: appsv1.GroupName, Kind: "ReplicaSet"}) {
		return false
	}
	_, ofDeployment := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	return !ofDeployment && ref.Name == pod.Labels[by.MemberLabel] && strings.HasPrefix(ref.Name, pod.Labels[by.ClusterLabel]+"-")
}

func has(pod *corev1.Pod, annotation string) bool { return pod.Annotations[annotation] != "" }
