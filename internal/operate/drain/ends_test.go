// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestRunWhileClusterEnds: a cluster that is deleted or scaled in while its nodes are drained does not stop the
// drain, and its members are not awaited.
func TestRunWhileClusterEnds(t *testing.T) {
	t.Parallel()
	const namespace = "/api/v1/namespaces/team"
	deleted := func(w *world) {
		w.Remove(operatetest.Path("StatefulSet", "main"))
		for _, pod := range []string{"main-0", "main-1", "main-2"} {
			w.Remove(operatetest.Path("Pod", pod))
		}
	}
	evicted := func(method, path string) bool { return method == "POST" && strings.HasSuffix(path, "/main-1/eviction") }
	for _, row := range []struct {
		name string
		// begin runs before the drain, end once, at the first request after one for which after is true.
		begin, end func(w *world)
		after      func(method, path string) bool
		code       int // that the eviction gets, 0 to do it
		step       string
	}{
		{
			name: "the namespace is deleted", step: "namespace team is being deleted, and main-1 with it",
			begin: func(w *world) {
				w.Put(namespace, apitest.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apitest.Object{"name": "team", "deletionTimestamp": "2026-11-28T12:00:00Z"}})
			},
			after: evicted, end: deleted,
		},
		{name: "the StatefulSet is deleted after an eviction", step: "evicted team/main-1 from node-1", after: evicted, end: deleted},
		{
			name: "the StatefulSet is scaled in after an eviction", step: "evicted team/main-1 from node-1", after: evicted,
			end: func(w *world) {
				operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"] = 1
				w.Remove(operatetest.Path("Pod", "main-2"))
			},
		},
		{
			name: "the StatefulSet is deleted while a budget refuses the eviction", step: "team/main-1 is gone from node-1",
			after: evicted, end: deleted, code: http.StatusTooManyRequests,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "node-1", "node-2")
			w.addNodes()
			w.addOther("web", "node-2")
			if row.begin != nil {
				row.begin(w)
			}
			came, ended := false, false
			w.Refuse = func(method, path string) int {
				if came && !ended {
					ended = true
					row.end(w)
				}
				if row.after(method, path) && !came {
					came = true
					return row.code
				}
				return 0
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := w.run.Do(ctx); err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(w.steps, "\n"))
			}
			for _, want := range []string{row.step, "kubectl evicts web", "drained node-2"} {
				if !slices.Contains(w.steps, want) {
					t.Errorf("%q is missing:\n%s", want, strings.Join(w.steps, "\n"))
				}
			}
		})
	}
}
