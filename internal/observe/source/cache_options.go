// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MemberLeaseComponent is the value of druid's component label on members' leases, and on no
// other lease.
const MemberLeaseComponent = "etcd-member-lease"

// CacheOptions returns the options of a manager's cache: its informers hold only the objects
// and fields that package observe reads. Other fields are empty in what the cache returns, so
// an object that was read from it must not be written back as a whole.
func CacheOptions() cache.Options {
	return cache.Options{
		// Etcds have no entry below: a cache with an entry for a kind that is not served yet
		// doesn't start.
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
			&policyv1.PodDisruptionBudget{}: {Transform: trimmed(trimBudget)},
			// Only members' leases: nodes and controllers renew theirs every few seconds.
			&coordinationv1.Lease{}: {
				Label:     labels.SelectorFromSet(labels.Set{druidv1alpha1.LabelComponentKey: MemberLeaseComponent}),
				Transform: trimmed(trimLease),
			},
		},
	}
}

// memberCandidates returns a selector of the pods that may be members, or that a member's
// budget may count, such as druid's compaction jobs. It selects all pods but those of
// Deployments and DaemonSets, which are most pods of a cluster. Where a budget counts one of
// those, its pods are read from the API server.
func memberCandidates() labels.Selector {
	s := labels.NewSelector()
	for _, key := range uncached {
		r, err := labels.NewRequirement(key, selection.DoesNotExist, nil)
		if err != nil {
			panic(err) // the keys are constants
		}
		s = s.Add(*r)
	}
	return s
}

// uncached are the labels of pods that the cache doesn't have.
var uncached = []string{"pod-template-hash", "pod-template-generation"}

// Uncached reports whether the pods of a StatefulSet are not in the cache, because its template has a label that
// only the pods of Deployments and DaemonSets should have.
func Uncached(sts *appsv1.StatefulSet) bool {
	return slices.ContainsFunc(uncached, func(key string) bool { _, has := sts.Spec.Template.Labels[key]; return has })
}

// trimmed returns a transform that calls trim. Transforms also receive the tombstones of
// deletions, which they must not change.
func trimmed[T metav1.Object](trim func(T)) toolscache.TransformFunc {
	return func(in any) (any, error) {
		if o, ok := in.(T); ok {
			trim(o)
		}
		if o, ok := in.(metav1.Object); ok {
			trimMeta(o)
		}
		return in, nil
	}
}
