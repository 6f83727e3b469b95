// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

func TestWait(t *testing.T) {
	t.Parallel()
	ready := func(status string) apitest.Object {
		return apitest.Object{"status": apitest.Object{"conditions": []any{apitest.Object{"type": "Ready", "status": status}}}}
	}
	const pod, claim = core + "pods/main-0", core + "persistentvolumeclaims/data-main-0"
	for _, row := range []struct {
		name    string
		wait    Wait
		command string
		// before is what doesn't fulfil the wait, and after what does; nil is no object.
		at, version, kind string
		before, after     apitest.Object
	}{
		{"created", Wait{Pod, []string{"main-0"}, Created, time.Minute}, "wait --for=create --timeout=1m pod/main-0", pod, "v1", "Pod", nil, apitest.Object{}},
		{"deleted", Wait{Pod, []string{"main-0", "main-1"}, Deleted, 5 * time.Minute}, "wait --for=delete --timeout=5m pod/main-0 pod/main-1", pod, "v1", "Pod", apitest.Object{}, nil},
		{"ready", Wait{Pod, []string{"main-0"}, Condition("Ready"), 15 * time.Minute}, "wait --for=condition=Ready --timeout=15m pod/main-0", pod, "v1", "Pod", ready("False"), ready("True")},
		{"ready of a pod that is to be created", Wait{Pod, []string{"main-0"}, Condition("Ready"), time.Minute}, "wait --for=condition=Ready --timeout=1m pod/main-0", pod, "v1", "Pod", nil, ready("True")},
		{"bound", Wait{Claim, []string{"data-main-0"}, Field("status.phase", "Bound"), 5 * time.Minute}, "wait --for=jsonpath='{.status.phase}'=Bound --timeout=5m pvc/data-main-0", claim, "v1", "PersistentVolumeClaim",
			apitest.Object{"status": apitest.Object{"phase": "Pending"}}, apitest.Object{"status": apitest.Object{"phase": "Bound"}}},
		{"replicas", Wait{StatefulSet, []string{"main"}, Field("status.readyReplicas", 3), 10 * time.Minute}, "wait --for=jsonpath='{.status.readyReplicas}'=3 --timeout=10m statefulset/main", set, "apps/v1", "StatefulSet",
			apitest.Object{"status": apitest.Object{"readyReplicas": 2}}, apitest.Object{"status": apitest.Object{"readyReplicas": 3}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			wantCommand(t, row.wait, "kubectl --context desk -n team "+row.command)
			show := func(o apitest.Object) {
				w.Remove(row.at)
				if o != nil {
					w.put(row.at, row.version, row.kind, o)
				}
			}
			show(row.before)
			began := w.clients.Clock.Now()
			wantError(t, row.wait.Do(t.Context(), w.clients), "timed out after")
			if waited := w.clients.Clock.Since(began); waited < row.wait.Timeout || waited > row.wait.Timeout+2*pollPeriod {
				t.Errorf("waited %s, want %s", waited, row.wait.Timeout)
			}
			show(row.after)
			w.do(t, row.wait)
		})
	}
}

// TestWaitRefused: what can't be read is an error at once.
func TestWaitRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refuse(http.MethodGet)
	wantError(t, Wait{Pod, []string{"main-0"}, Deleted, time.Hour}.Do(t.Context(), w.clients), "read pod main-0")
}

func TestAwaitReconcile(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), AwaitReconcile{Etcd: "main"}
	wantCommand(t, a, `for attempt in $(seq 450); do
  operation=$(kubectl --context desk -n team get etcd/main -o jsonpath='{.metadata.annotations.druid\.gardener\.cloud/operation}' || echo unknown)
  [ -z "$operation" ] && break
  sleep 2
done
[ -z "$operation" ] || { echo "etcd-druid has not ended its reconciliation"; false; }`)
	w.do(t, a)
	w.put(druid, "druid.gardener.cloud/v1alpha1", "Etcd", apitest.Object{"metadata": apitest.Object{"annotations": apitest.Object{operates: "reconcile"}}})
	wantError(t, a.Do(t.Context(), w.clients), "etcd-druid to end its reconciliation of main: timed out")
	w.refuse(http.MethodGet)
	wantError(t, a.Do(t.Context(), w.clients), "timed out")
}
