// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestUnkeptInStatus checks that the status of policies counts the clusters whose budget
// no policy keeps as unprotected, whatever the Budget controller found before.
func TestUnkeptInStatus(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		reason      policy.Reason
		tie         bool
		change      func(*v1alpha1.EtcdTopologyPolicySpec)
		unprotected int32
	}{
		{"kept", policy.AllReady, false, func(*v1alpha1.EtcdTopologyPolicySpec) {}, 0},
		{"tied", policy.Reason{}, true, func(*v1alpha1.EtcdTopologyPolicySpec) {}, 1},
		{"off", reasons.PolicyOff, false, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Mode = v1alpha1.ModeOff }, 1},
		{"warns", reasons.PolicyWarns, false, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Mode = v1alpha1.ModeWarn }, 1},
		{"disruption disabled", reasons.DisruptionDisabled, false, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.Enabled = new(false) }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			key := owner.Key{Kind: "StatefulSet", Namespace: "store", Name: "etcd"}
			store := &controllertest.Store{Objects: controllertest.Cluster(t, "plain-3", key.Namespace, "{}")}
			clock := clocktesting.NewFakePassiveClock(controllertest.Now)
			reader := &observe.Reader{Reader: store.Cached(), Live: store, Leases: &leaseclock.Clock{Clock: clock}}
			recorder, findings := events.NewFakeRecorder(100), &budget.Findings{}
			b := &budget.Reconciler{Client: store, Recorder: recorder, Clock: clock, Findings: findings, Reader: reader}
			if _, err := b.Reconcile(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			p := controllertest.Find[*v1alpha1.EtcdTopologyPolicy](t, store.Objects, "default")
			row.change(&p.Spec)
			if row.tie {
				other := p.DeepCopy()
				other.Name, other.UID = "other", "other"
				store.Objects = append(store.Objects, other)
			}
			r := &Reconciler{Client: &statuses{objects: store.Objects}, Reader: reader, Recorder: recorder, Clock: clock, Findings: findings}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
				t.Fatal(err)
			}
			status := controllertest.Find[*v1alpha1.EtcdTopologyPolicy](t, store.Objects, "default").Status
			condition := metav1.ConditionTrue
			if row.unprotected > 0 {
				condition = metav1.ConditionFalse
			}
			for _, c := range status.Conditions {
				if c.Type == v1alpha1.ConditionProtected && c.Status != condition {
					t.Errorf("Protected is %s: %s", c.Status, c.Message)
				}
			}
			if status.Unprotected != row.unprotected {
				t.Errorf("%d are unprotected, want %d", status.Unprotected, row.unprotected)
			}
			if name := row.reason.Name(); name != "" && status.Clusters[0].Budget.Reason != name {
				t.Errorf("found %+v", status.Clusters[0].Budget)
			}
		})
	}
}
