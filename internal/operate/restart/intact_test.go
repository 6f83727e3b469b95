// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// setNode changes the node of main-1.
func (c *stage) setNode(change func(node apitest.Object)) {
	node := c.Get(operatetest.Path("Node", "node-1"))
	change(node)
	c.Put(operatetest.Path("Node", "node-1"), node)
}

// TestCoordinatedHosts has a row for each state of the node of a member. Its volume is on that node, or every node can
// mount it. With all members stopped, a pod that no node can start is found too late.
func TestCoordinatedHosts(t *testing.T) {
	t.Parallel()
	taint := func(effect string) func(apitest.Object) {
		return func(node apitest.Object) {
			node["spec"] = apitest.Object{"taints": []any{apitest.Object{"key": "dedicated", "value": "db", "effect": effect}}}
		}
	}
	tolerates := func(c *stage) {
		pod := c.Get(operatetest.Path("Pod", "main-1"))
		operatetest.Field(pod, "spec")["tolerations"] = []any{apitest.Object{"key": "dedicated", "operator": "Exists"}}
		c.Put(operatetest.Path("Pod", "main-1"), pod)
	}
	pending := func(c *stage) {
		pod := c.Get(operatetest.Path("Pod", "main-1"))
		delete(operatetest.Field(pod, "spec"), "nodeName")
		c.Put(operatetest.Path("Pod", "main-1"), pod)
	}
	cordon := func(node apitest.Object) { node["spec"] = apitest.Object{"unschedulable": true} }
	for name, row := range map[string]struct {
		node func(apitest.Object)
		set  func(*stage)
		// local and anywhere are parts of the refusals, empty for a plan.
		local, anywhere string
	}{
		"cordoned":               {node: cordon, local: "main-1: no node can start it with its volume: node node-1 is cordoned (kubectl uncordon node-1)"},
		"tainted":                {node: taint("NoSchedule"), local: "node node-1 has taint dedicated=db:NoSchedule, which its pod does not tolerate"},
		"tainted, NoExecute":     {node: taint("NoExecute"), local: "has taint dedicated=db:NoExecute"},
		"tainted, preferred":     {node: taint("PreferNoSchedule")},
		"tainted, tolerated":     {node: taint("NoSchedule"), set: tolerates},
		"pending":                {set: pending},
		"pending, and cordoned":  {node: cordon, set: pending, local: "node node-1 is cordoned (kubectl uncordon node-1)"},
		"pending, not Ready":     {node: notReady, set: pending, local: "node node-1 is not Ready"},
		"on a node that is lost": {node: notReady, local: "node node-1 of main-1 is not Ready", anywhere: "node node-1 of main-1 is not Ready"},
	} {
		for kind, want := range map[string]string{"local": row.local, "anywhere": row.anywhere} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				c := newTogether(t)
				c.together(t) // the old pods
				if row.node != nil {
					c.setNode(row.node)
				}
				if row.set != nil {
					row.set(c)
				}
				if kind == "local" {
					c.tie("main-1", "node-1")
				}
				_, _, err := c.together(t).PlanCoordinated(t.Context())
				if refused := (*operate.RefusedError)(nil); want == "" && err != nil || want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			})
		}
	}
}

func notReady(node apitest.Object) {
	node["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": "Ready", "status": "Unknown"}}}
}

// tie gives a volume the affinity to one node.
func (c *stage) tie(volume, node string) {
	c.Put("/api/v1/persistentvolumes/"+volume, apitest.Object{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": apitest.Object{"name": volume}, "spec": apitest.Object{
		"nodeAffinity": apitest.Object{"required": apitest.Object{"nodeSelectorTerms": []any{apitest.Object{
			"matchExpressions": []any{apitest.Object{"key": "kubernetes.io/hostname", "operator": "In", "values": []any{node}}},
		}}}},
	}})
}

// TestCoordinatedNodesUnread: what the user may not read is a warning.
func TestCoordinatedNodesUnread(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/v1/nodes":                    "Nodes can't be listed",
		"/api/v1/nodes/node-1":             "Node node-1 can't be read",
		"/api/v1/persistentvolumes/main-1": "PersistentVolume main-1 can't be read",
	} {
		c := newTogether(t)
		c.together(t)
		c.tie("main-1", "node-1")
		c.setNode(func(node apitest.Object) { node["spec"] = apitest.Object{"unschedulable": true} })
		reads := c.Refuse
		c.Refuse = func(method, at string) int {
			if at == path {
				return http.StatusForbidden
			}
			return reads(method, at)
		}
		f := &operate.Findings{}
		j := c.together(t)
		s, err := j.observe(t.Context(), &Record{Strategy: Coordinated})
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range s.pods {
			if err := j.checkNode(t.Context(), s, pod, f); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(f.Warnings, " "); !strings.Contains(got, want) || len(f.Refusals) > 0 {
			t.Errorf("%s: warnings %q, refusals %q", path, got, f.Refusals)
		}
	}
}
