// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"fmt"
	"net/http"
	"strings"
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
		{"created", Wait{Kind: Pod, Names: []string{"main-0"}, For: Created, Timeout: time.Minute}, "wait --for=create --timeout=1m pod/main-0", pod, "v1", "Pod", nil, apitest.Object{}},
		{"deleted", Wait{Kind: Pod, Names: []string{"main-0", "main-1"}, For: Deleted, Timeout: 5 * time.Minute}, "wait --for=delete --timeout=5m pod/main-0 pod/main-1", pod, "v1", "Pod", apitest.Object{}, nil},
		{"ready", Wait{Kind: Pod, Names: []string{"main-0"}, For: Condition("Ready"), Timeout: 15 * time.Minute}, "wait --for=condition=Ready --timeout=15m pod/main-0", pod, "v1", "Pod", ready("False"), ready("True")},
		{"ready of a pod that is to be created", Wait{Kind: Pod, Names: []string{"main-0"}, For: Condition("Ready"), Timeout: time.Minute}, "wait --for=condition=Ready --timeout=1m pod/main-0", pod, "v1", "Pod", nil, ready("True")},
		{"bound", Wait{Kind: Claim, Names: []string{"data-main-0"}, For: Field("status.phase", "Bound"), Timeout: 5 * time.Minute}, "wait --for=jsonpath='{.status.phase}'=Bound --timeout=5m pvc/data-main-0", claim, "v1", "PersistentVolumeClaim",
			apitest.Object{"status": apitest.Object{"phase": "Pending"}}, apitest.Object{"status": apitest.Object{"phase": "Bound"}}},
		{"replicas", Wait{Kind: StatefulSet, Names: []string{"main"}, For: Field("status.readyReplicas", 3), Timeout: 10 * time.Minute}, "wait --for=jsonpath='{.status.readyReplicas}'=3 --timeout=10m statefulset/main", set, "apps/v1", "StatefulSet",
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

// TestWaitImage: an image that can't be pulled is reported at once, and ends the wait early. Another problem doesn't.
func TestWaitImage(t *testing.T) {
	t.Parallel()
	const at = core + "pods/main-0"
	for reason, early := range map[string]bool{"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "CreateContainerConfigError": false} {
		for flag := range map[string]bool{"--helper-image": true, "": false} {
			w := newWorld(t)
			var warned []string
			w.clients.Warn = func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }
			w.put(at, "v1", "Pod", apitest.Object{"status": apitest.Object{"containerStatuses": []any{
				apitest.Object{"name": "files", "state": apitest.Object{"waiting": apitest.Object{"reason": reason, "message": "no such image"}}},
			}}})
			began := w.clients.Clock.Now()
			err := Wait{Kind: Pod, Names: []string{"main-0"}, For: Condition("Ready"), Timeout: 3 * time.Minute, ImageFlag: flag}.Do(t.Context(), w.clients)
			waited := w.clients.Clock.Since(began)
			wantError(t, err, "pod main-0: "+reason+": container files: no such image")
			if early := early && flag != ""; (waited < time.Minute) != early || (len(warned) == 1) != early {
				t.Errorf("%s with %q: waited %s, warned %q", reason, flag, waited, warned)
			}
			if early && flag != "" {
				wantError(t, err, "set an image that the nodes can pull with --helper-image")
			}
		}
	}
}

// TestWaitClaim: a claim that isn't bound has the reason of the pod that it is for.
func TestWaitClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(core+"persistentvolumeclaims/data-main-0", "v1", "PersistentVolumeClaim", apitest.Object{"status": apitest.Object{"phase": "Bound"}})
	w.put(core+"persistentvolumeclaims/data-main-1", "v1", "PersistentVolumeClaim", apitest.Object{"status": apitest.Object{"phase": "Pending"}})
	w.put(core+"pods/main-1", "v1", "Pod", apitest.Object{"status": apitest.Object{"phase": "Pending", "conditions": []any{
		apitest.Object{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"},
	}}})
	wait := Wait{Kind: Claim, Names: []string{"data-main-0", "data-main-1"}, For: Field("status.phase", "Bound"), Timeout: time.Minute, Pods: []string{"main-0", "main-1", "main-2"}}
	wantError(t, wait.Do(t.Context(), w.clients), "pod main-1: pending: not scheduled: 0/1 nodes are available")
	wait.Pods = nil
	if err := wait.Do(t.Context(), w.clients); err == nil || strings.Contains(err.Error(), "not scheduled") {
		t.Errorf("without pods: %v", err)
	}
}

// TestWaitRefused: what can't be read is an error at once.
func TestWaitRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refuse(http.MethodGet)
	wantError(t, Wait{Kind: Pod, Names: []string{"main-0"}, For: Deleted, Timeout: time.Hour}.Do(t.Context(), w.clients), "read pod main-0")
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
