// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
)

// stage is a cluster whose volumes a storage driver grows, before each request. A command on it dies at its
// n-th write.
type stage struct {
	*operatetest.Cluster

	kube client.Client
	// driver is how it grows a volume: "online", "offline" in the next pod, "fails", or "never".
	driver string
	// left is how many writes there are until the crash; negative for none.
	left int
	// code refuses writes of claims, 0 for none. Of conflicts, it is only the first.
	code int
	// idle is true if nothing creates pods.
	idle bool
	// most is the largest number of claims that grew at the same time.
	most int
	mu   sync.Mutex
}

const class = "/apis/storage.k8s.io/v1/storageclasses/fast"

func newStage(t *testing.T, driver string) *stage {
	t.Helper()
	c := &stage{Cluster: operatetest.NewCluster(t), driver: driver, left: -1}
	c.kube = c.Client(t)
	c.Put(class, apitest.Object{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": apitest.Object{"name": "fast"}, "allowVolumeExpansion": true})
	for i := range 3 {
		c.claim(i, "10Gi", "10Gi")
	}
	c.Refuse = func(method, path string) int {
		if strings.HasSuffix(path, "/portforward") || strings.Contains(path, "/apis/auth") {
			return 0
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.idle {
			c.Reconcile(t)
		}
		c.drive()
		if method != http.MethodGet && c.dies() || c.left == 0 {
			return http.StatusForbidden // which no operation retries
		}
		if method == http.MethodPatch && strings.Contains(path, "/persistentvolumeclaims/") {
			code := c.code
			if code == http.StatusConflict {
				c.code = 0
			}
			return code
		}
		return 0
	}
	return c
}

func (c *stage) dies() bool {
	if c.left > 0 {
		c.left--
	}
	return c.left == 0
}

func claimPath(i int) string {
	return operatetest.Path("PersistentVolumeClaim", fmt.Sprintf("data-main-%d", i))
}

// claim puts the claim of a member.
func (c *stage) claim(i int, request, capacity string) {
	c.Put(claimPath(i), apitest.Object{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": apitest.Object{"namespace": "team", "name": fmt.Sprintf("data-main-%d", i)},
		"spec":   apitest.Object{"volumeName": fmt.Sprintf("main-%d", i), "storageClassName": "fast", "resources": apitest.Object{"requests": apitest.Object{"storage": request}}},
		"status": apitest.Object{"phase": "Bound", "capacity": apitest.Object{"storage": capacity}},
	})
}

// drive does the work of the storage driver and of the kubelets.
func (c *stage) drive() {
	growing := 0
	for i := range 3 {
		var claim corev1.PersistentVolumeClaim
		if o := c.Get(claimPath(i)); o == nil || json.Unmarshal(text(o), &claim) != nil {
			continue
		}
		request, capacity := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
		if request.Cmp(capacity) <= 0 {
			continue
		}
		growing++
		status := apitest.Object{"phase": "Bound", "capacity": apitest.Object{"storage": capacity.String()}}
		pod := fmt.Sprint(operatetest.Field(c.Get(operatetest.Path("Pod", fmt.Sprintf("main-%d", i))), "metadata")["uid"])
		switch was := claim.Annotations["pod"]; {
		case c.driver == "online", c.driver == "offline" && was != "" && was != pod && pod != "<nil>":
			status["capacity"] = apitest.Object{"storage": request.String()}
		case c.driver == "offline":
			status["conditions"] = []any{apitest.Object{"type": "FileSystemResizePending", "status": "True"}}
			if was != "" {
				continue
			}
		case c.driver == "fails":
			status["conditions"] = []any{apitest.Object{"type": "ControllerResizeError", "status": "True", "message": "no disk"}}
		default:
			continue
		}
		c.set(claimPath(i), func(o apitest.Object) {
			o["status"] = status
			operatetest.Field(o, "metadata")["annotations"] = apitest.Object{"pod": pod}
		})
	}
	c.most = max(c.most, growing)
}

// set puts a changed copy of an object.
func (c *stage) set(path string, change func(apitest.Object)) {
	var o apitest.Object
	if err := json.Unmarshal(text(c.Get(path)), &o); err != nil {
		panic(err)
	}
	change(o)
	c.Put(path, o)
}

func text(o apitest.Object) []byte {
	text, _ := json.Marshal(o) // it came as JSON
	return text
}

// job returns what a new command works with.
func (c *stage) job(t *testing.T, size string) *Job {
	t.Helper()
	reader := &observe.Reader{Reader: c.kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	target, err := owner.ParseTarget("statefulset/main")
	if err != nil {
		t.Fatal(err)
	}
	o, err := resolve.Target(t.Context(), reader, "team", target)
	if err != nil {
		t.Fatal(err)
	}
	r := &restart.Job{
		Kube: c.kube, Reader: reader, Owner: o, Tunnel: tunnel.New(c.Config()), StillHeld: func() error { return nil },
		Clock: &operatetest.HastyClock{Time: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}, Logf: t.Logf,
	}
	t.Cleanup(func() { _ = r.Close() })
	return &Job{Job: r, Size: resource.MustParse(size)}
}

// sizes returns the capacities of the claims.
func (c *stage) sizes() string {
	var sizes []string
	for i := range 3 {
		sizes = append(sizes, fmt.Sprint(operatetest.Field(c.Get(claimPath(i)), "status", "capacity")["storage"]))
	}
	return strings.Join(sizes, " ")
}

// writes returns the claims that were patched and the pods that were evicted, in order.
func (c *stage) writes() string {
	var all []string
	for _, w := range c.Writes() {
		w = strings.NewReplacer("/api/v1/namespaces/team/", "", "persistentvolumeclaims/", "", "pods/", "").Replace(w)
		all = append(all, w)
	}
	return strings.Join(all, ", ")
}
