// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestPlanAgreed: a plan stays the one that the user has agreed to when its nodes or the budgets of other pods change, since
// the drain waits for these. All warnings are printed.
func TestPlanAgreed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		set   func(*world)
		warns string
		want  bool
	}{
		{"nothing changed", func(*world) {}, "", true},
		{"a budget of another pod allows no eviction", func(w *world) {
			w.addBudget("web", "web", 0)
		}, "node-3: budget team/web (minAvailable=2) allows no eviction of pod web now, and the drain waits for it.", true},
		{"a node is not Ready", func(w *world) {
			w.Get(operatetest.Path("Node", "node-3"))["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": "Ready", "status": "Unknown"}}}
		}, "node-3: the node is not Ready: pods that its kubelet does not stop stay, and the drain waits for them.", true},
		{"kubectl drain deletes another pod", func(w *world) {
			w.warnings = "deleting Pods that declare no controller: team/web"
		}, "node-3: kubectl drain: deleting Pods that declare no controller: team/web.", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addOther("web", "node-3")
			plan := func() operate.Plan {
				s, err := w.run.Observe(t.Context(), []string{"node-3"})
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.OperatePlan()
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			agreed := plan()
			row.set(w)
			now := plan()
			if now.Agreed(agreed) != row.want {
				t.Errorf("it is the same plan: %t", !row.want)
			}
			if all := slices.Concat(now.Warnings, now.Waits); row.warns != "" && !slices.Contains(all, row.warns) {
				t.Errorf("warnings %q", all)
			}
		})
	}
}
