// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// TestCacheHoldsWhatIsRead compares what is observed through the cache's
// transforms with what whole objects show.
func TestCacheHoldsWhatIsRead(t *testing.T) {
	t.Parallel()
	whole := load(t, "testdata/spread.yaml")
	cached, err := whole.Cached(source.CacheOptions())
	if err != nil {
		t.Fatal(err)
	}
	see := func(objects observetest.Objects) (facts []spread.Facts) {
		r := &observe.Reader{Reader: objects}
		owners, err := r.Owners(t.Context())
		if err != nil || len(owners) != 2 {
			t.Fatalf("Owners: %d, %v", len(owners), err)
		}
		for _, o := range owners {
			pod, ok, err := MemberPod(t.Context(), r, o)
			if err != nil || !ok {
				t.Fatalf("MemberPod: %t, %v", ok, err)
			}
			f, err := Facts(t.Context(), r, o, pod, spread.ZoneKey)
			if err != nil {
				t.Fatal(err)
			}
			facts = append(facts, f)
		}
		return facts
	}
	if diff := cmp.Diff(see(whole), see(cached)); diff != "" {
		t.Errorf("the cache cuts off what is read (-whole +cached):\n%s", diff)
	}
}
