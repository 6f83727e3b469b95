// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// cutCluster is a StatefulSet with a client Service that is cut.
const cutCluster = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: plain, namespace: db, uid: plain-uid}
spec:
  replicas: 3
  serviceName: plain
  selector: {matchLabels: {app: plain}}
  template:
    metadata: {labels: {app: plain}}
    spec:
      containers: [{name: etcd, command: [/usr/local/bin/etcd], ports: [{containerPort: 2379}]}]
---
apiVersion: v1
kind: Service
metadata: {name: client, namespace: db}
spec:
  clusterIP: 10.0.0.1
  selector: {app: plain, kubectl-etcd.dev/client-traffic: %s}
  ports: [{port: 2379}]
`

func TestListShowsTheEndOfACut(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	end := now.Add(time.Hour)
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(scheme, fmt.Appendf(nil, cutCluster, observe.CutValue(end)))
	if err != nil {
		t.Fatal(err)
	}
	r := &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: testclock.NewFakePassiveClock(now)}}
	owner, found, err := r.Owner(t.Context(), owner.Key{Kind: "StatefulSet", Namespace: "db", Name: "plain"})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	listed, err := summarize(t.Context(), r, owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := listed.Traffic.Until; got == nil || !got.Time.Equal(end) {
		t.Errorf("traffic is %+v, want a cut until %s", listed.Traffic, end)
	}
}
