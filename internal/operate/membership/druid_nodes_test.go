// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestDruidScaleOutNodes holds that an Etcd is not scaled out beyond the nodes that its members require, as
// a StatefulSet is not.
func TestDruidScaleOutNodes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		nodes int
		apart bool // the members that run require their own nodes
		want  string
	}{
		{"D-14 nodes enough", 5, true, ""},
		{"D-15 too few nodes, and running members keep new ones away", 4, true, "4 nodes match: 5 members could not be scheduled"},
		{"D-16 too few nodes, which members may share", 4, false, ""},
		{"D-17 no node", 0, false, "no node matches the pod template"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, nil)
			w.m.Owner.WorkloadKind, w.m.Owner.Kind = owner.DruidStatefulSet, "Etcd"
			all := []string{"node-0", "node-1", "node-2", "node-3", "node-4"}
			for _, name := range all {
				w.Remove(operatetest.Path("Node", name))
			}
			for _, name := range all[:row.nodes] {
				w.Create(apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": name}})
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
			f := &findings{}
			if err := w.m.checkDruidScaleOut(t.Context(), "scale", 3, 5, true, f); err != nil {
				t.Fatal(err)
			}
			var nodes []string
			for _, r := range f.refusals {
				if strings.Contains(r, "node") {
					nodes = append(nodes, r)
				}
			}
			if got := strings.Join(nodes, "\n"); (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("refused with %q, want %q", f.refusals, row.want)
			}
		})
	}
}
