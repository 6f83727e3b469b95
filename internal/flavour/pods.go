// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
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
		c := PodCluster{Product: p}
		match := map[string]string{}
		switch by := p.Pods; {
		case by.ClusterLabel != "" && pod.Labels[by.ClusterLabel] != "":
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

func has(pod *corev1.Pod, annotation string) bool { return pod.Annotations[annotation] != "" }
