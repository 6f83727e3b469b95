// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// DeniesEtcd reports whether an object declares that it runs no etcd.
func DeniesEtcd(o metav1.Object) bool {
	return o.GetAnnotations()[v1alpha1.EtcdAnnotation] == v1alpha1.NotEtcd
}

// AsDeclared returns a pod with the declaration that counts for it: the first that its workloads'
// annotations have, otherwise its own. A workload's takes precedence, so that a change of it counts
// at once for all of its pods, and no pod of a workload contradicts another. It returns the same pod
// where nothing changes, and a shallow copy otherwise.
func AsDeclared(pod *corev1.Pod, workloads ...map[string]string) *corev1.Pod {
	for _, annotations := range workloads {
		value, declared := annotations[v1alpha1.EtcdAnnotation]
		if !declared {
			continue
		}
		out := *pod
		out.Annotations = maps.Clone(pod.Annotations)
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[v1alpha1.EtcdAnnotation] = value
		return &out
	}
	return pod
}

// PodOfTemplate returns a pod as a StatefulSet's template describes it, without a name, and with the
// declaration that counts for it.
func PodOfTemplate(sts *appsv1.StatefulSet) *corev1.Pod {
	t := &sts.Spec.Template
	return AsDeclared(&corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}, sts.Annotations)
}

// NextPod returns the pod with a name as the StatefulSet's controller creates it of a template, with the
// declaration that counts for it and without its owner reference. It shares nothing with the template, which
// may be another one than the StatefulSet has now.
func NextPod(sts *appsv1.StatefulSet, template *corev1.PodTemplateSpec, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = sts.Namespace, name
	pod = AsDeclared(pod, sts.Annotations)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = name
	pod.Labels[appsv1.PodIndexLabel] = strings.TrimPrefix(name, sts.Name+"-")
	pod.Spec.Hostname, pod.Spec.Subdomain = name, sts.Spec.ServiceName
	return pod
}
