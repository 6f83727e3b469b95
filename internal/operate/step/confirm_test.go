// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

// TestWaitConfirmed: a pod that goes while its node can't confirm that its containers ended does not count as stopped. Its
// node is known also if another pod is awaited first.
func TestWaitConfirmed(t *testing.T) {
	t.Parallel()
	node := func(ready string, taints ...any) apitest.Object {
		return apitest.Object{"spec": apitest.Object{"taints": taints}, "status": apitest.Object{"conditions": []any{apitest.Object{"type": "Ready", "status": ready}}}}
	}
	const at, first, nodes = core + "pods/main-1", core + "pods/main-0", "/api/v1/nodes/node-1"
	for _, row := range []struct {
		name, state string
		node        apitest.Object
		refused     bool
		helpers     bool
		want        string
	}{
		{name: "Ready", state: "running", node: node("True")},
		{name: "not Ready", state: "running", node: node("Unknown"), want: "pod main-1 is gone, and its node node-1 is not Ready"},
		{name: "not Ready, out of service", state: "running", node: node("Unknown", apitest.Object{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"})},
		{name: "deleted", state: "running", want: "pod main-1 is gone, and its node node-1 does not exist any more"},
		{name: "deleted after the pod had ended", state: "terminated"},
		{name: "unreadable", state: "running", refused: true},
		{name: "deleted, and the pods run no members", state: "running", helpers: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, path := range []string{first, at} {
				w.put(path, "v1", "Pod", apitest.Object{"spec": apitest.Object{"nodeName": "node-1"}, "status": apitest.Object{"containerStatuses": []any{apitest.Object{"name": "etcd", "state": apitest.Object{row.state: apitest.Object{}}}}}})
			}
			w.put(nodes, "v1", "Node", node("True"))
			reads := 0
			w.Refuse = func(_, path string) int {
				switch {
				case path == nodes && row.refused:
					return 403
				case path != first:
					return 0
				}
				switch reads++; reads {
				case 3: // main-0 stops, and then main-1 goes
					w.Remove(first)
				case 4:
					w.Remove(at)
					w.Remove(nodes)
					if row.node != nil {
						w.put(nodes, "v1", "Node", row.node)
					}
				}
				return 0
			}
			err := Wait{Kind: Pod, Names: []string{"main-0", "main-1"}, For: Deleted, Members: !row.helpers, Timeout: time.Minute}.Do(t.Context(), w.clients)
			if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			if row.want != "" {
				w.do(t, Wait{Kind: Pod, Names: []string{"main-0", "main-1"}, For: Deleted, Members: !row.helpers, Timeout: time.Minute}) // the same command again
			}
		})
	}
}
