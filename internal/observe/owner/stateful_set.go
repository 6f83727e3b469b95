// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// ReplicasOf returns how many pods a StatefulSet has when it is complete. 1 is the API's default.
func ReplicasOf(sts *appsv1.StatefulSet) int {
	if sts.Spec.Replicas == nil {
		return 1
	}
	return int(*sts.Spec.Replicas)
}

// FirstOrdinal returns the ordinal of a StatefulSet's first pod, 0 for nil.
func FirstOrdinal(ordinals *appsv1.StatefulSetOrdinals) int {
	if ordinals == nil {
		return 0
	}
	return int(ordinals.Start)
}

// FirstPodLabels returns the labels of a StatefulSet's first pod.
func FirstPodLabels(sts *appsv1.StatefulSet) labels.Set { return PodLabels(sts, 0) }

// PodLabels returns the labels that a StatefulSet gives to its next pod with a number from 0.
func PodLabels(sts *appsv1.StatefulSet, number int) labels.Set {
	ordinal := strconv.Itoa(FirstOrdinal(sts.Spec.Ordinals) + number)
	next := labels.Set{}
	maps.Copy(next, sts.Spec.Template.Labels)
	next[appsv1.StatefulSetPodNameLabel], next[appsv1.PodIndexLabel] = sts.Name+"-"+ordinal, ordinal
	return next
}
