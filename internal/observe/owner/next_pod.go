// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"maps"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// PodOfStatefulSet returns the first pod that a StatefulSet of the owner's would create, with its
// owner reference. It has no annotations: a template's are no record of admission.
func PodOfStatefulSet(o Owner, sts *appsv1.StatefulSet) *corev1.Pod {
	pod := etcdconf.NextPod(sts, &sts.Spec.Template, OfStatefulSet(sts).PodName(0))
	pod.Namespace, pod.Annotations = o.Namespace, nil
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	return pod
}

// PodOfEtcd returns the first pod that druid's StatefulSet will create for an Etcd. It has no owner
// reference yet.
func PodOfEtcd(o Owner, etcd *druidv1alpha1.Etcd) *corev1.Pod {
	labels := maps.Clone(etcd.Spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, o.MemberSelector.MatchLabels)
	labels[druidv1alpha1.LabelAppNameKey] = etcd.Name
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.PodName(0), Labels: labels},
		Spec: corev1.PodSpec{
			Affinity:                  etcd.Spec.SchedulingConstraints.Affinity,
			TopologySpreadConstraints: etcd.Spec.SchedulingConstraints.TopologySpreadConstraints,
		},
	}
}
