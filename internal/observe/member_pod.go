// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MemberPod is the first member's pod as it would be made now, as far as its
// scheduling goes. False when neither the workload nor the Etcd is there.
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

// PodOfStatefulSet is the first pod that a StatefulSet would make, and belongs to it.
func PodOfStatefulSet(o Owner, sts *appsv1.StatefulSet) *corev1.Pod {
	t := &sts.Spec.Template
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Namespace, Name: o.PodName(0), Labels: t.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: t.Spec,
	}
}

// PodOfEtcd is the first pod that druid's StatefulSet will make for an Etcd. It
// belongs to nobody yet.
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
