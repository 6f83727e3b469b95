// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// foundIn returns the plan of a restore with so many members into the StatefulSet of a cluster, with what Find finds there.
func foundIn(t *testing.T, cluster *operatetest.Cluster, size int32) Plan {
	t.Helper()
	kube := cluster.Client(t)
	reader := &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	o, err := resolve.Target(t.Context(), reader, "team", owner.Target{Kind: "statefulset", Name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	r := Plan{Owner: o}
	if err := r.Find(t.Context(), kube, reader, size, "busybox"); err != nil {
		t.Fatal(err)
	}
	return r
}
