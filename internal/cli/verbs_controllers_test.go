// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// controllers do the work of the programs that carry out what a verb writes: the StatefulSet
// controller, etcd-druid with its sidecars, and the controller of EndpointSlices. They work
// before each request to the API server.
type controllers struct {
	// idle stops them.
	idle atomic.Bool
	// seen is called at each request and call while they are stopped.
	seen func()
	// hang has etcd and the sidecars answer no call that changes something.
	hang bool
	// lag has learners stay behind. The StatefulSet controller works also when the others are
	// idle.
	lag bool
	// deletions is how often an object with a finalizer was deleted: the Deployment of etcd-webhook, of which
	// two are dry runs, or a journal that is left over.
	deletions int
	mu        sync.Mutex
}

// startControllers starts all of them.
func (w *world) startControllers(t *testing.T) {
	t.Helper()
	c := &w.controllers
	w.Refuse = func(method, path string) int {
		if strings.HasSuffix(path, "/portforward") || strings.Contains(path, "/apis/auth") {
			return 0
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.idle.Load() {
			w.reconcile(t)
			return 0
		}
		if c.lag {
			w.Reconcile(t)
		}
		if !c.hang {
			c.seen()
		}
		if method == http.MethodDelete && (path == operatetest.Path("Deployment", "etcd-webhook") || path == operatetest.Path("ConfigMap", "kubectl-etcd-gone")) {
			c.deletions++
			return http.StatusOK // it has a finalizer
		}
		return 0
	}
	w.Etcd.Fail = func(string) error {
		if !c.idle.Load() || !c.hang {
			return nil
		}
		c.seen()
		<-t.Context().Done()
		return status.Error(codes.Unavailable, "the test is over")
	}
	w.serveSidecar(t)
}

func (w *world) reconcile(t *testing.T) {
	t.Helper()
	w.reconcileEtcd()
	w.Reconcile(t)
	w.reconcileEndpoints()
	w.reconcileVolumes()
	if job := w.firstSnapshot(); job != nil && operatetest.Field(job, "status")["conditions"] == nil {
		job := copied(job)
		job["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": "Complete", "status": "True"}}}
		w.Create(job)
	}
}

// requested returns what a claim requests, nil for none.
func (w *world) requested(claim string) any {
	return operatetest.Field(w.Get(operatetest.Path("PersistentVolumeClaim", claim)), "spec", "resources", "requests")["storage"]
}

// reconcileVolumes gives each claim what it requests.
func (w *world) reconcileVolumes() {
	for i := range 3 {
		name := fmt.Sprintf("data-main-%d", i)
		request := w.requested(name)
		if request == nil {
			continue
		}
		claim := copied(w.Get(operatetest.Path("PersistentVolumeClaim", name)))
		if capacity := operatetest.Field(claim, "status", "capacity"); capacity["storage"] != request {
			capacity["storage"] = request
			w.Create(claim)
		}
	}
}

// firstSnapshot returns the Job of a schedule that takes the first snapshot, nil for none.
func (w *world) firstSnapshot() apitest.Object {
	for _, path := range w.Paths() {
		if strings.HasPrefix(path, operatetest.Path("Job", "")) {
			return w.Get(path)
		}
	}
	return nil
}

// reconcileEtcd gives the StatefulSet the replicas of the Etcd, and each new pod and each pod
// without data a new member.
func (w *world) reconcileEtcd() {
	etcd := w.Get(operatetest.Path("Etcd", "main"))
	if etcd == nil {
		return
	}
	var spec struct{ Replicas int }
	text, _ := json.Marshal(etcd["spec"]) // it came as JSON
	_ = json.Unmarshal(text, &spec)
	if operatetest.Field(etcd, "metadata", "annotations")["druid.gardener.cloud/operation"] != nil {
		etcd, sts := copied(etcd), copied(w.Get(operatetest.Path("StatefulSet", "main")))
		delete(operatetest.Field(etcd, "metadata", "annotations"), "druid.gardener.cloud/operation")
		operatetest.Field(sts, "spec")["replicas"] = spec.Replicas
		w.Create(etcd)
		w.Create(sts)
	}
	for i := range spec.Replicas {
		pod := fmt.Sprintf("main-%d", i)
		if w.Get(operatetest.Path("Pod", pod)) == nil && w.Get(operatetest.Path("PersistentVolumeClaim", "data-"+pod)) == nil {
			w.Etcd.Replace(pod)
		}
	}
}

// copied returns a copy of an object, which other requests may be reading.
func copied(o apitest.Object) apitest.Object {
	text, _ := json.Marshal(o) // it came as JSON
	var c apitest.Object
	_ = json.Unmarshal(text, &c)
	return c
}

// reconcileEndpoints gives the client Service an endpoint unless it is cut.
func (w *world) reconcileEndpoints() {
	const at = "/apis/discovery.k8s.io/v1/namespaces/team/endpointslices/main-1"
	if w.Get(operatetest.Path("Service", "main")) == nil {
		return
	}
	endpoints := []any{apitest.Object{"addresses": []any{"10.1.0.1"}}}
	if isCut(w) {
		endpoints = []any{}
	}
	if now, ok := w.Get(at)["endpoints"].([]any); ok && len(now) == len(endpoints) {
		return
	}
	w.Put(at, apitest.Object{
		"metadata":  apitest.Object{"namespace": "team", "name": "main-1", "labels": apitest.Object{"kubernetes.io/service-name": "main"}},
		"endpoints": endpoints,
	})
}

// serveSidecar serves backup-restore in each pod.
func (w *world) serveSidecar(t *testing.T) {
	t.Helper()
	listener := bufconn.Listen(1 << 10)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		if w.controllers.idle.Load() {
			w.controllers.seen()
			<-t.Context().Done()
			return
		}
		fmt.Fprintf(out, `{"kind":"Full","snapName":"Full-0-1000","lastRevision":1000,"createdOn":"2026-01-01T00:00:00Z"}`)
	})}
	go server.Serve(listener) //nolint:errcheck // ends with the test
	t.Cleanup(func() { _ = server.Close() })
	w.Dial = func(pod string, port int) (net.Conn, error) {
		if port == 8080 {
			return listener.Dial()
		}
		return w.Etcd.Dial(pod, port)
	}
}
