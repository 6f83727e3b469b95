// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// TestSeparateInStatus: the status of a policy has why it does not apply to etcds that are no cluster.
func TestSeparateInStatus(t *testing.T) {
	t.Parallel()
	store := &controllertest.Store{Objects: controllertest.Cluster(t, "plain-3", "store", "{}")}
	c := &controllertest.Find[*appsv1.StatefulSet](t, store.Objects, "etcd").Spec.Template.Spec.Containers[0]
	c.Command, c.Args, c.Env = []string{"etcd", "--name=m", "--initial-cluster=m=http://127.0.0.1:2380"}, nil, nil
	clock := clocktesting.NewFakePassiveClock(controllertest.Now)
	reader := &observe.Reader{Reader: store.Cached(), Live: store, Leases: &leaseclock.Clock{Clock: clock}}
	r := &Reconciler{Client: &statuses{objects: store.Objects}, Reader: reader, Recorder: events.NewFakeRecorder(100), Clock: clock, Findings: &budget.Findings{}}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
	status := controllertest.Find[*v1alpha1.EtcdTopologyPolicy](t, store.Objects, "default").Status
	if len(status.Clusters) != 1 || status.Unprotected != 0 {
		t.Fatalf("the status is %+v", status)
	}
	for _, found := range []v1alpha1.Finding{status.Clusters[0].Spread, status.Clusters[0].Budget} {
		if found.Verdict != v1alpha1.Off || found.Reason != reasons.SeparateEtcds.Name() || found.Message == "" {
			t.Errorf("found %+v", found)
		}
	}
}
