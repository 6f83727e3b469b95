// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestDruidScaleOutNodes holds that scaling an Etcd out beyond the nodes that its members require is warned
// of and not refused: an autoscaler may add nodes.
func TestDruidScaleOutNodes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		nodes int
		apart bool // the members that run require their own nodes
		want  string
	}{
		{"nodes enough", 5, true, ""},
		{"too few nodes, and running members keep new ones away", 4, true, "4 nodes match: 5 members could not be scheduled; add nodes.\nmain-0, main-1 and main-2 require their own nodes or zones until recreated"},
		{"too few nodes, which members may share", 4, false, ""},
		{"no node", 0, false, "no node matches the pod template"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, nil)
			w.m.Owner.WorkloadKind, w.m.Owner.Kind = owner.DruidStatefulSet, "Etcd"
			all := []string{"node-0", "node-1", "node-2", "node-3", "node-4"}
			for _, name := range all {
				w.Remove(operatetest.Path("Node", name))
			}
			for i, name := range all {
				node := apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": name}}
				if i >= row.nodes { // members that run stay on a node that no longer takes them
					node["spec"] = apitest.Object{"taints": []any{apitest.Object{"key": "example.com/other", "effect": "NoSchedule"}}}
				}
				w.Create(node)
			}
			for _, pod := range []string{"main-0", "main-1", "main-2"} {
				w.edit(operatetest.Path("Pod", pod), func(o apitest.Object) {
					if row.apart {
						operatetest.Field(o, "spec")["affinity"] = apitest.Object{"podAntiAffinity": apitest.Object{
							"requiredDuringSchedulingIgnoredDuringExecution": []any{apitest.Object{
								"topologyKey": "kubernetes.io/hostname", "labelSelector": apitest.Object{},
							}},
						}}
					}
				})
			}
			f := &operate.Findings{}
			if err := w.m.checkDruidScaleOut(t.Context(), "scale", 3, 5, true, f); err != nil {
				t.Fatal(err)
			}
			for _, r := range f.Refusals {
				if strings.Contains(r, "node") {
					t.Errorf("refused: %s", r)
				}
			}
			got := strings.Join(f.Warnings, "\n")
			if warned := strings.Contains(got, "wait"); warned != (row.want != "") || !strings.Contains(got, row.want) {
				t.Errorf("warned %q, want %q", got, row.want)
			}
		})
	}
}
