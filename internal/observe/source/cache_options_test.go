// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
)

func TestTransformsBearTombstones(t *testing.T) {
	t.Parallel()
	gone := toolscache.DeletedFinalStateUnknown{Key: "db/etcd-0"}
	for _, by := range CacheOptions().ByObject {
		if by.Transform == nil {
			continue
		}
		if got, err := by.Transform(gone); err != nil || got != gone {
			t.Errorf("tombstone becomes %v, %v", got, err)
		}
	}
}

func TestCacheSelectsPods(t *testing.T) {
	t.Parallel()
	for kind, by := range CacheOptions().ByObject {
		if _, ok := kind.(*corev1.Pod); !ok {
			continue
		}
		for _, row := range []struct {
			what string
			set  labels.Set
			want bool
		}{
			{"a StatefulSet's pod", labels.Set{"statefulset.kubernetes.io/pod-name": "etcd-0", "controller-revision-hash": "x"}, true},
			{"druid's compaction job", labels.Set{"batch.kubernetes.io/job-name": "etcd-compactor"}, true},
			{"a Deployment's pod", labels.Set{"pod-template-hash": "x"}, false},
			{"a DaemonSet's pod", labels.Set{"controller-revision-hash": "x", "pod-template-generation": "1"}, false},
		} {
			if got := by.Label.Matches(row.set); got != row.want {
				t.Errorf("%s: %t, want %t", row.what, got, row.want)
			}
		}
	}
}
