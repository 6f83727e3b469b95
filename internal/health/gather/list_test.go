// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
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

// deployed is the pod of a Deployment of one member, whose list has three.
const deployed = `
apiVersion: v1
kind: Pod
metadata:
  namespace: db
  name: %[1]s-7c9f-x
  labels: {app: %[1]s, pod-template-hash: 7c9f}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %[1]s-7c9f, uid: r, controller: true}]
spec:
  containers:
  - name: etcd
    command: [etcd, --name=%[1]s, "--initial-advertise-peer-urls=http://%[1]s:2380", "--initial-cluster=a=http://a:2380,b=http://b:2380,c=http://c:2380"]
status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z"}]}
---
`

// TestListOfDeployments: members in the lists of pods whose Deployments have no replica are not counted as absent.
func TestListOfDeployments(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		names []string
		want  output.Quorum
		notes int
	}{
		{[]string{"a", "b", "c"}, output.Quorum{Voters: 3, Healthy: 3, Needed: 2, Slack: 1}, 0},
		{[]string{"a", "c"}, output.Quorum{Voters: 3, Healthy: 2, Needed: 2, Unknown: 1}, 0},
		{[]string{"b"}, output.Quorum{Voters: 3, Healthy: 1, Needed: 2, Slack: -1, Unknown: 2}, 1},
	} {
		scheme := runtime.NewScheme()
		if err := observe.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		var text string
		for _, name := range row.names {
			text += fmt.Sprintf(deployed, name)
		}
		objects, err := observetest.Parse(scheme, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r := &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: testclock.NewFakePassiveClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}}
		owners, err := r.Clusters(t.Context())
		if err != nil || len(owners) != 1 {
			t.Fatal(owners, err)
		}
		listed, err := summarize(t.Context(), r, owners[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if listed.Quorum != row.want {
			t.Errorf("%v: got %+v, want %+v", row.names, listed.Quorum, row.want)
		}
		facts, err := r.Facts(t.Context(), owners[0])
		if err != nil {
			t.Fatal(err)
		}
		unknown := 0
		for _, n := range facts.Notes {
			if n.Reason == policy.SizeUnknown {
				unknown++
			}
		}
		if unknown != row.notes {
			t.Errorf("%v: %d notes of an unknown size, want %d: %v", row.names, unknown, row.notes, facts.Notes)
		}
	}
}
