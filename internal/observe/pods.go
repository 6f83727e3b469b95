// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodReady reports whether the disruption controller counts a pod as healthy: it is Ready and not
// being deleted.
func PodReady(pod *corev1.Pod) bool {
	c := podCondition(pod, corev1.PodReady)
	return pod.DeletionTimestamp == nil && c != nil && c.Status == corev1.ConditionTrue
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// runningSince returns when the last container of a pod was started, and false while any of them
// is not running. Readiness and leases that are older don't describe the containers that run now.
func runningSince(pod *corev1.Pod) (time.Time, bool) {
	var youngest time.Time
	for i := range pod.Status.ContainerStatuses {
		running := pod.Status.ContainerStatuses[i].State.Running
		if running == nil {
			return time.Time{}, false
		}
		if running.StartedAt.After(youngest) {
			youngest = running.StartedAt.Time
		}
	}
	return youngest, len(pod.Status.ContainerStatuses) > 0
}

// MemberPod returns the first member's pod as it would be created now, with the fields that matter
// to its scheduling. It returns false where neither the workload nor the Etcd exists.
func (r *Reader) MemberPod(ctx context.Context, o Owner) (*corev1.Pod, bool, error) {
	if o.StatefulSet == "" {
		return nil, false, nil
	}
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, o.Namespace, o.StatefulSet, &sts)
	if err != nil {
		return nil, false, fmt.Errorf("observe StatefulSet %s/%s: %w", o.Namespace, o.StatefulSet, err)
	}
	if found {
		return PodOfStatefulSet(o, &sts), true, nil
	}
	if o.Flavour != Druid {
		return nil, false, nil
	}
	var etcd druidv1alpha1.Etcd
	if found, err = r.fetch(ctx, o.Namespace, o.Name, &etcd); err != nil || !found {
		return nil, false, err
	}
	return PodOfEtcd(o, &etcd), true, nil
}

// PodOfStatefulSet returns the first pod that a StatefulSet of the owner's would create, with its
// owner reference.
func PodOfStatefulSet(o Owner, sts *appsv1.StatefulSet) *corev1.Pod {
	t := &sts.Spec.Template
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Namespace, Name: statefulSetOwner(sts).PodName(0), Labels: t.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: t.Spec,
	}
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
