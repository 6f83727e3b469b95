// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// TestObserve: what the objects of a cluster mean for the plan.
func TestObserve(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		set   func(*world)
		nodes string
		// waves are the waves, divided by a bar, and blocked the reasons of the blocked nodes.
		waves, blocked string
		// back is the reason of the first member that a wave evicts.
		back policy.Reason
		// warning is in a warning of a node.
		warning string
	}{
		{name: "one wave for each member", nodes: "node-1 node-2", waves: "node-1|node-2", back: drain.AwaitMember},
		{name: "nodes without a member", nodes: "node-1 node-3 node-4", waves: "node-1 node-3 node-4", back: drain.AwaitMember},
		{name: "a budget allows none", set: func(w *world) { w.addBudget("main", "main", 0) }, nodes: "node-1 node-3", waves: "node-3", blocked: "node-1 BudgetBlocks"},
		{name: "a budget allows one", set: func(w *world) { w.addBudget("main", "main", 1) }, nodes: "node-1", waves: "node-1", back: drain.AwaitMember},
		{name: "two budgets", set: func(w *world) {
			w.addBudget("main", "main", 1)
			w.addBudget("another", "main", 1)
		}, nodes: "node-1", blocked: "node-1 SeveralBudgets"},
		{name: "a member is down", set: func(w *world) { w.unready("main-0") }, nodes: "node-0 node-1", waves: "node-0", blocked: "node-1 QuorumNeedsMember"},
		{name: "a Pending member runs etcd", set: func(w *world) {
			w.unready("main-0")
			w.pending("main-1", "running")
		}, nodes: "node-1", blocked: "node-1 QuorumNeedsMember"},
		{name: "a Pending member never started etcd", set: func(w *world) {
			w.unready("main-0")
			w.pending("main-1", "waiting")
		}, nodes: "node-1", waves: "node-1"},
		{name: "no budget is checked for a Pending member", set: func(w *world) {
			w.pending("main-1", "running")
			w.addBudget("main", "main", 0)
			w.addBudget("another", "main", 0)
		}, nodes: "node-1", waves: "node-1"},
		{name: "kubectl drain refuses", set: func(w *world) { w.fails = []string{"cannot delete Pods with local storage"} }, nodes: "node-3", blocked: "node-3 OtherPodsBlock"},
		{name: "kubectl drain warns", set: func(w *world) { w.warnings = "ignoring DaemonSet-managed Pods: team/agent" }, nodes: "node-3", waves: "node-3", warning: "kubectl drain: ignoring"},
		{name: "no other node", set: func(w *world) { w.addNodes("node-0", "node-3", "node-4") }, nodes: "node-1 node-2", waves: "node-1|node-2", back: drain.AwaitUncordon},
		{name: "another pod waits for its budget", set: func(w *world) {
			w.addOther("web", "node-3")
			w.addBudget("web", "web", 0)
		}, nodes: "node-3", waves: "node-3", warning: "allows no eviction of pod web now"},
		{name: "another pod with two budgets", set: func(w *world) {
			w.addOther("web", "node-3")
			w.addBudget("web", "web", 1)
			w.addBudget("web2", "web", 1)
		}, nodes: "node-3", blocked: "node-3 OtherPodsBlock"},
		{name: "a pod that may run etcd", set: func(w *world) {
			w.addOther("maybe", "node-3")
			operatetest.Field(w.Get(operatetest.Path("Pod", "maybe")), "spec")["containers"] = []any{apitest.Object{"name": "x", "image": "quay.io/coreos/etcd:v3.6.5", "command": []any{"launcher"}}}
		}, nodes: "node-3", waves: "node-3", warning: "pod team/maybe may run etcd"},
		{name: "a pod that executes what was not read", set: func(w *world) {
			w.addOther("web-0", "node-3")
			operatetest.Field(w.Get(operatetest.Path("Pod", "web-0")), "metadata")["ownerReferences"] = []any{
				apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "w", "controller": true}}
			w.run.Reader.Scripts.Miss(podfiles.Unread{Namespace: "team", Name: "web", Err: errors.New("its script is forbidden")})
		}, nodes: "node-3", waves: "node-3", warning: "pod team/web-0 may run etcd, and the plan does not protect it: it is not known whether StatefulSet web"},
		{name: "data in an emptyDir", set: func(w *world) {
			operatetest.Field(w.Get(operatetest.Path("Pod", "main-1")), "spec")["volumes"] = []any{apitest.Object{"name": "data", "emptyDir": apitest.Object{}}}
		}, nodes: "node-1", waves: "node-1", back: drain.AwaitMember, warning: "the data of team/main-1 is in emptyDir data"},
		{name: "a node that is not Ready", set: func(w *world) {
			w.Get(operatetest.Path("Node", "node-3"))["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": "Ready", "status": "Unknown"}}}
		}, nodes: "node-3", waves: "node-3", warning: "the node is not Ready"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if row.set != nil {
				row.set(w)
			}
			s, err := w.run.Observe(t.Context(), strings.Fields(row.nodes))
			if err != nil {
				t.Fatal(err)
			}
			var waves, blocked, warnings []string
			for _, wave := range s.Plan.Waves {
				waves = append(waves, strings.Join(wave.Nodes, " "))
			}
			for _, b := range s.Plan.Blocked {
				blocked = append(blocked, b.Node+" "+b.Causes[0].Reason.Name())
			}
			for _, n := range s.Nodes {
				warnings = slices.Concat(warnings, n.Warnings, n.Waits)
			}
			if got := strings.Join(waves, "|"); got != row.waves {
				t.Errorf("waves %q, want %q", got, row.waves)
			}
			if got := strings.Join(blocked, "|"); got != row.blocked {
				t.Errorf("blocked %q, want %q", got, row.blocked)
			}
			if row.back.Name() != "" && (len(s.Plan.Waves) == 0 || s.Plan.Waves[0].Back[0].Reason != row.back) {
				t.Errorf("back: %+v", s.Plan.Waves)
			}
			if !strings.Contains(strings.Join(warnings, "\n"), row.warning) || row.warning == "" && len(warnings) > 0 {
				t.Errorf("warnings %q, want %q", warnings, row.warning)
			}
		})
	}
}

// unready has a pod be not Ready.
func (w *world) unready(pod string) {
	status := operatetest.Field(w.Get(operatetest.Path("Pod", pod)), "status")
	status["conditions"] = []any{apitest.Object{"type": "Ready", "status": "False"}}
}

// pending has a pod be Pending: one of its containers never started. state is that of its etcd.
func (w *world) pending(pod, state string) {
	w.unready(pod)
	status := operatetest.Field(w.Get(operatetest.Path("Pod", pod)), "status")
	status["phase"] = "Pending"
	status["containerStatuses"] = []any{
		apitest.Object{"name": "etcd", "state": apitest.Object{state: apitest.Object{}}},
		apitest.Object{"name": "exporter", "state": apitest.Object{"waiting": apitest.Object{"reason": "ImagePullBackOff"}}},
	}
}

// TestUnseen: what may not be listed is reported, and no node is found to be free because of it.
func TestUnseen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Refuse = func(method, path string) int {
		if method == http.MethodGet && path == "/api/v1/pods" {
			return http.StatusForbidden
		}
		return 0
	}
	s, err := w.run.Observe(t.Context(), []string{"node-1"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Partial != "team" || !denies(s.Unseen, "pods") || len(s.Nodes[0].Members) != 1 || s.Nodes[0].Members[0].Stays {
		t.Errorf("partial %q, unseen %v", s.Partial, s.Unseen)
	}
}

// TestMissingNodes: all names that no node has are in the error.
func TestMissingNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.run.Observe(t.Context(), []string{"node-1", "node-8", "node-9"})
	missing, is := errors.AsType[*MissingNodesError](err)
	if !is || !slices.Equal(missing.Names, []string{"node-8", "node-9"}) {
		t.Errorf("%v", err)
	}
}

// TestTry: a dry run tries the first wave only, and writes nothing.
func TestTry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.run.Observe(t.Context(), []string{"node-1", "node-2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run.Try(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if w.Get(operatetest.Path("Pod", "main-1")) == nil || !slices.Equal(w.steps, []string{"tries to cordon node-1"}) {
		t.Errorf("steps %q", w.steps)
	}
}
