// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// cached are objects as the manager's cache would hold them.
func cached(t *testing.T, objects observetest.Objects) observetest.Objects {
	t.Helper()
	o := CacheOptions()
	var out observetest.Objects
	for _, obj := range objects {
		transform := o.DefaultTransform
		for kind, by := range o.ByObject {
			if reflect.TypeOf(kind) == reflect.TypeOf(obj) && by.Transform != nil {
				transform = by.Transform
			}
		}
		// Twice, as a relist may do.
		var held any = obj.DeepCopyObject()
		for range 2 {
			var err error
			if held, err = transform(held); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, held.(client.Object))
	}
	return out
}

// TestCacheHoldsWhatIsRead compares what is observed through the cache's
// transforms with what whole objects show.
func TestCacheHoldsWhatIsRead(t *testing.T) {
	t.Parallel()
	whole := load(t, "testdata/spread.yaml")
	see := func(objects observetest.Objects) (facts []spread.Facts) {
		r := Reader{Reader: objects}
		owners, err := r.Owners(t.Context())
		if err != nil || len(owners) != 2 {
			t.Fatalf("Owners: %d, %v", len(owners), err)
		}
		for _, o := range owners {
			pod, ok, err := r.MemberPod(t.Context(), o)
			if err != nil || !ok {
				t.Fatalf("MemberPod: %t, %v", ok, err)
			}
			f, err := r.SpreadFacts(t.Context(), o, pod, spread.ZoneKey)
			if err != nil {
				t.Fatal(err)
			}
			facts = append(facts, f)
		}
		return facts
	}
	if diff := cmp.Diff(see(whole), see(cached(t, whole))); diff != "" {
		t.Errorf("the cache cuts off what is read (-whole +cached):\n%s", diff)
	}
}

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
