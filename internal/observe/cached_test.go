// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// cached are objects as the manager's cache would hold them.
func cached(t *testing.T, objects observetest.Objects) observetest.Objects {
	t.Helper()
	o := source.CacheOptions()
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
