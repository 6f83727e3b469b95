// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CacheOptions are those of a manager's cache for a Reader: its informers hold
// the objects and fields that this package reads and no others. What is cut
// off is empty in what the cache returns, so nothing that was read from it may
// be written back whole.
func CacheOptions() cache.Options {
	return cache.Options{
		// Etcds can't have an entry below: a cache with one for a kind that is
		// not served yet doesn't start.
		DefaultTransform: trimmed(trimEtcd),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {
				Label:     memberCandidates(),
				Field:     fields.AndSelectors(fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)), fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed))),
				Transform: trimmed(trimPod),
			},
			&appsv1.StatefulSet{}:           {Transform: trimmed(trimStatefulSet)},
			&corev1.Node{}:                  {Transform: trimmed(trimNode)},
			&corev1.Namespace{}:             {Transform: trimmed(trimNamespace)},
			&corev1.PersistentVolume{}:      {Transform: trimmed(trimVolume)},
			&corev1.PersistentVolumeClaim{}: {Transform: trimmed(trimClaim)},
			&corev1.Service{}:               {Transform: trimmed(trimService)},
			// Members' leases alone: a cluster's other leases are renewed
			// every few seconds by every node and every controller.
			&coordinationv1.Lease{}: {Label: labels.SelectorFromSet(labels.Set{druidv1alpha1.LabelComponentKey: leaseComponent})},
		},
	}
}

// memberCandidates selects the pods that may be members, or that a member's budget
// may count although they are none, as druid's compaction jobs: all but those
// of Deployments and DaemonSets, which are most of a cluster's. A budget that
// counts one of these as well is read past the cache.
func memberCandidates() labels.Selector {
	s := labels.NewSelector()
	for _, key := range []string{"pod-template-hash", "pod-template-generation"} {
		r, err := labels.NewRequirement(key, selection.DoesNotExist, nil)
		if err != nil {
			panic(err) // the keys are constants
		}
		s = s.Add(*r)
	}
	return s
}

// trimmed makes a transform of what cuts an object down. Transforms see a
// deletion's tombstone too, which they must leave.
func trimmed[T metav1.Object](trim func(T)) toolscache.TransformFunc {
	return func(in any) (any, error) {
		if o, ok := in.(metav1.Object); ok {
			o.SetManagedFields(nil)
			if a := o.GetAnnotations(); a[corev1.LastAppliedConfigAnnotation] != "" {
				delete(a, corev1.LastAppliedConfigAnnotation)
			}
		}
		if o, ok := in.(T); ok {
			trim(o)
		}
		return in, nil
	}
}
