// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// statuses stores the status updates of policies.
type statuses struct {
	client.SubResourceClient
	objects observetest.Objects
	written []string
}

func (s *statuses) SubResource(string) client.SubResourceClient { return s }

func (s *statuses) Update(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	s.written = append(s.written, obj.GetName())
	for i, have := range s.objects {
		if _, ok := have.(*v1alpha1.EtcdTopologyPolicy); ok && have.GetName() == obj.GetName() {
			s.objects[i] = obj
		}
	}
	return nil
}

func TestTopologyPolicyStatus(t *testing.T) {
	t.Parallel()
	objects := controllertest.Policies(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	recorder := events.NewFakeRecorder(100)
	findings := &budget.Findings{}
	findings.Swap(owner.Key{Kind: "StatefulSet", Namespace: "db", Name: "good"}, v1alpha1.Finding{Verdict: v1alpha1.Broken, Reason: "NoBudget", Message: "no budget selects the members"})
	findings.Swap(owner.Key{Kind: "StatefulSet", Namespace: "db", Name: "bad"}, v1alpha1.Finding{Verdict: v1alpha1.Kept, Reason: "AllReady"})
	writes := &statuses{objects: objects}
	r := &Reconciler{Client: writes, Reader: &observe.Reader{Reader: (&controllertest.Store{Objects: objects}).Cached(), Live: objects}, Recorder: recorder, Clock: clocktesting.NewFakePassiveClock(at), Findings: findings}

	result, err := r.Reconcile(t.Context(), reconcile.Request{})
	if err != nil || result.RequeueAfter == 0 {
		t.Fatalf("Reconcile: %+v, %v", result, err)
	}
	got := map[string]any{"events": controllertest.Recorded(t, recorder)}
	for _, o := range objects {
		if p, ok := o.(*v1alpha1.EtcdTopologyPolicy); ok {
			got[p.Name] = p.Status
		}
	}
	text, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/policies.status.yaml"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}

	// Without a change nothing is written and no Event recorded, even if the cache lists in
	// another order and time has passed.
	writes.written = nil
	slices.Reverse(objects)
	r.Clock = clocktesting.NewFakePassiveClock(at.Add(time.Hour))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
	if len(writes.written) > 0 {
		t.Errorf("written again: %q", writes.written)
	}
	if again := controllertest.Recorded(t, recorder); len(again) > 0 {
		t.Errorf("recorded again: %q", again)
	}
}

func TestStatusIsBounded(t *testing.T) {
	t.Parallel()
	r := report{}
	for i := range 250 {
		verdict := v1alpha1.Kept
		if i >= 240 {
			verdict = v1alpha1.Broken
		}
		r.clusters = append(r.clusters, v1alpha1.ClusterStatus{Name: string(rune('a' + i)), Spread: v1alpha1.Finding{Verdict: verdict}})
	}
	s := r.status(&v1alpha1.EtcdTopologyPolicy{}, time.Time{})
	if len(s.Clusters) != v1alpha1.MaxListedClusters || s.Matched != 250 || s.Broken != 10 || s.Kept != 240 {
		t.Errorf("%d listed of %d, %d broken, %d kept", len(s.Clusters), s.Matched, s.Broken, s.Kept)
	}
	for _, c := range s.Clusters[:10] {
		if c.Spread.Verdict != v1alpha1.Broken {
			t.Errorf("the broken are not first: %v", c)
		}
	}
}
