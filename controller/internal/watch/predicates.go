// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// When passes updates that differ, and every creation and deletion.
func When[T client.Object](differ func(before, after T) bool) predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool {
		return differ(e.ObjectOld, e.ObjectNew)
	}}
}

// MetaOrSpecChanged ignores changes of the status.
func MetaOrSpecChanged[T client.Object]() predicate.TypedPredicate[T] {
	return When(func(before, after T) bool { return MetaChanged(before, after) })
}

// MetaChanged reports whether the identity, the spec, the labels or the annotations of an object differ.
func MetaChanged(before, after client.Object) bool {
	return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// TrafficChanged passes changes of the cut of a Service.
func TrafficChanged() predicate.TypedPredicate[*corev1.Service] {
	cut := func(s *corev1.Service) string { return s.Spec.Selector[v1alpha1.ClientTrafficKey] }
	return predicate.TypedFuncs[*corev1.Service]{
		CreateFunc: func(e event.TypedCreateEvent[*corev1.Service]) bool { return cut(e.Object) != "" },
		DeleteFunc: func(e event.TypedDeleteEvent[*corev1.Service]) bool { return cut(e.Object) != "" },
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Service]) bool { return cut(e.ObjectOld) != cut(e.ObjectNew) },
	}
}
