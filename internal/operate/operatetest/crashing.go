// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operatetest

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Crashing is a cluster on which a command dies at its n-th write, to Kubernetes or to etcd. Its StatefulSet controller
// works before each request.
type Crashing struct {
	*Cluster

	Kube client.Client
	// Left is how many writes there are until the crash; negative for none.
	Left int
	mu   sync.Mutex
}

// NewCrashing returns a cluster that is healthy, on which no command dies yet.
func NewCrashing(t *testing.T) *Crashing {
	t.Helper()
	c := &Crashing{Cluster: NewCluster(t), Left: -1}
	c.Kube = c.Client(t)
	c.Refuse = func(method, path string) int {
		if strings.HasSuffix(path, "/portforward") || strings.Contains(path, "/apis/auth") {
			return 0
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Reconcile(t)
		if method != http.MethodGet && c.dies() || c.Left == 0 {
			return http.StatusForbidden // which no operation retries
		}
		return 0
	}
	c.Etcd.Fail = func(string) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.dies() {
			return status.Error(codes.PermissionDenied, "the command is dead")
		}
		return nil
	}
	return c
}

// dies reports whether this write is the one, or comes after it.
func (c *Crashing) dies() bool {
	if c.Left > 0 {
		c.Left--
	}
	return c.Left == 0
}
