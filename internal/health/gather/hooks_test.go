// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// hooked is the pod of a Deployment with a hook in a script of a ConfigMap.
const hooked = `
apiVersion: v1
kind: Pod
metadata:
  namespace: team
  name: a-7c9f-x
  labels: {app: a, pod-template-hash: 7c9f}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: a-7c9f, uid: r, controller: true}]
spec:
  containers:
  - name: etcd
    command: [etcd, --name=a]
    lifecycle: {preStop: {exec: {command: [sh, /scripts/stop.sh]}}}
    volumeMounts: [{name: scripts, mountPath: /scripts}]
  volumes: [{name: scripts, configMap: {name: scripts}}]
---
`

// TestHooksOfPods: the scripts that pods without a StatefulSet mount are read for W011.
func TestHooksOfPods(t *testing.T) {
	t.Parallel()
	const script = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: team, name: scripts}\ndata: {stop.sh: 'COMMAND'}\n"
	for _, row := range []struct {
		name, script string
		want         health.Level
	}{
		{"it removes the member", strings.Replace(script, "COMMAND", "etcdctl member remove $ID", 1), health.Warning},
		{"it does nothing", strings.Replace(script, "COMMAND", "sleep 5", 1), health.OK},
		{"there is no ConfigMap", "", health.Unknown},
	} {
		scheme := runtime.NewScheme()
		if err := observe.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		objects, err := observetest.Parse(scheme, []byte(hooked+row.script))
		if err != nil {
			t.Fatal(err)
		}
		r := &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: testclock.NewFakePassiveClock(time.Time{})}}
		owners, err := r.Clusters(t.Context())
		if err != nil || len(owners) != 1 {
			t.Fatal(owners, err)
		}
		checks, err := health.Selection{Only: []string{"W011"}}.Checks()
		if err != nil {
			t.Fatal(err)
		}
		g := gatherer{Facts: &health.Facts{Owner: owners[0]}, Source: Source{Reader: r}, need: health.Needs(checks)}
		g.workload(t.Context())
		g.changesOfPods(t.Context())
		if result := health.Run(checks, g.Facts)[0]; result.Level != row.want {
			t.Errorf("%s: W011 is %s: %+v, want %s", row.name, result.Level, result.Findings, row.want)
		}
	}
}
