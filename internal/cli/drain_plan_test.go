// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// addPod puts a pod that is no member on a node. change may be nil.
func (w *world) addPod(name, node string, change func(pod apitest.Object)) {
	pod := apitest.Object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": apitest.Object{"namespace": "team", "name": name, "ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": true}}},
		"spec":     apitest.Object{"nodeName": node, "containers": []any{apitest.Object{"name": "web", "image": "nginx"}}},
		"status":   apitest.Object{"phase": "Running"},
	}
	if change != nil {
		change(pod)
	}
	w.Create(pod)
}

func ofDaemonSet(pod apitest.Object) {
	operatetest.Field(pod, "metadata")["ownerReferences"] = []any{apitest.Object{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "ds", "controller": true}}
}

func withEmptyDir(pod apitest.Object) {
	operatetest.Field(pod, "spec")["volumes"] = []any{apitest.Object{"name": "cache", "emptyDir": apitest.Object{}}}
}

func withoutOwner(pod apitest.Object) {
	delete(operatetest.Field(pod, "metadata"), "ownerReferences")
}

// addDaemonSet puts the DaemonSet of the pods of ofDaemonSet.
func (w *world) addDaemonSet() {
	w.Put("/apis/apps/v1/namespaces/team/daemonsets/agent", apitest.Object{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": apitest.Object{"namespace": "team", "name": "agent", "uid": "ds"}})
}

const wavesOfTwo = `WAVE   NODE     MEMBERS       OTHER PODS
1      node-1   team/main-1   0
2      node-2   team/main-2   0

After wave 1 and before wave 2:
  - wait until pod team/main-1 is ready

Node node-2 is not drained earlier:
  - wave 1: without main-1 and main-2, etcd cluster team/main would have 1 of 3 voters healthy, and quorum is 2 (WaveQuorum)

All 2 nodes can be drained, in 2 waves.
`

// TestDrainPlan: what drain-plan prints, and its exit codes.
func TestDrainPlan(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		args string
		set  func(*world)
		code int
		// out is all of stdout, empty for any. has and shown are parts of stdout and stderr.
		out   string
		has   []string
		shown []string
	}{
		{name: "two waves", args: "node-1 node-2", out: wavesOfTwo},
		{name: "the name of a node twice", args: "node-2 node/node-1 node-2", out: wavesOfTwo, shown: []string{"Warning: node node-2 is named twice."}},
		{name: "names", args: "node-2 node-1 node-3 -o name", out: "node/node-1\nnode/node-3\nnode/node-2\n"},
		{name: "json", args: "node-1 node-2 -o json", has: []string{`"kind": "DrainPlan"`, `"wave": 2`, `"reason": "AwaitMember"`, `"pod": "team/main-1"`}},
		{name: "a selector", args: "-l kubernetes.io/hostname=node-3 -o name", out: "node/node-3\n"},
		{name: "a selector of nothing", args: "-l pool=old", code: 1, shown: []string{"error: no node has the labels pool=old"}},
		{name: "an unknown node", args: "node-1 node-9", code: 1, shown: []string{"there is no node node-9; the nodes are node-0, node-1, node-2, node-3, node-4"}},
		{name: "a wrong selector", args: "-l =", code: 1, shown: []string{`selector "="`}},
		{name: "a blocked node", args: "node-1 node-3", set: func(w *world) {
			operatetest.Field(w.Get(operatetest.Path("Pod", "main-0")), "status")["conditions"] = []any{}
		}, code: 2, has: []string{"blocked   node-1", "(QuorumNeedsMember)", "1 of 2 nodes can be drained now, in 1 wave."}, shown: []string{"refused: node-1 can't be drained now: "}},
		{name: "no permission for pods", args: "node-1", set: func(w *world) { w.forbid("/api/v1/pods") }, code: 1,
			has:   []string{"This plan is not complete: it is not known what else blocks these nodes."},
			shown: []string{"error: it is not known what blocks these nodes: you may not list pods in all namespaces, so only namespace default was seen"}},
		{name: "no permission for budgets", args: "node-1", set: func(w *world) { w.forbid("/apis/policy/v1/poddisruptionbudgets") }, code: 1,
			shown: []string{"you may not list poddisruptionbudgets.policy in all namespaces, so the plan lacks what they would show"}},
		{name: "a DaemonSet", args: "node-3", set: func(w *world) {
			w.addDaemonSet()
			w.addPod("agent-1", "node-3", ofDaemonSet)
		}, code: 2, has: []string{"DaemonSet-managed Pods (use --ignore-daemonsets to ignore): team/agent-1 (OtherPodsBlock)"}},
		{name: "a DaemonSet that is ignored", args: "node-3 --ignore-daemonsets", set: func(w *world) {
			w.addDaemonSet()
			w.addPod("agent-1", "node-3", ofDaemonSet)
		}, has: []string{"The node can be drained now."}, shown: []string{"kubectl drain: ignoring DaemonSet-managed Pods: team/agent-1"}},
		{name: "an emptyDir", args: "node-3", set: func(w *world) { w.addPod("web-1", "node-3", withEmptyDir) }, code: 2, has: []string{"--delete-emptydir-data"}},
		{name: "an emptyDir that is deleted", args: "node-3 --delete-emptydir-data", set: func(w *world) { w.addPod("web-1", "node-3", withEmptyDir) }, has: []string{"1      node-3   -         1\n"}},
		{name: "a bare pod", args: "node-3", set: func(w *world) { w.addPod("bare", "node-3", withoutOwner) }, code: 2, has: []string{"--force"}},
		{name: "another pod", args: "node-3", set: func(w *world) { w.addPod("web-1", "node-3", nil) }, has: []string{"1      node-3   -         1\n"}},
		{name: "members that the selector of pods leaves", args: "node-1 node-2 --pod-selector app=web", has: []string{"team/main-1 (stays)", "in 1 wave."}, shown: []string{"the drain does not evict team/main-1"}},
		{name: "a run with a blocked node", args: "node-1 node-3 --run -y", set: func(w *world) {
			operatetest.Field(w.Get(operatetest.Path("Pod", "main-0")), "status")["conditions"] = []any{}
		}, code: 2, shown: []string{"refused: cannot drain nodes node-1 and node-3:", "drain the others with: kubectl etcd drain-plan node-3"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, verb{set: (*world).evicts})
			if row.set != nil {
				row.set(w)
			}
			before := w.state()
			if code := w.run(t.Context(), verb{path: "drain-plan", args: row.args, lockless: true}); code != row.code {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
			if row.out != "" && w.out.String() != row.out {
				t.Errorf("stdout:\n%s\nwant:\n%s", &w.out, row.out)
			}
			wants(t, w.out.String(), row.has...)
			wants(t, w.err.String(), row.shown...)
			if w.state() != before {
				t.Error("something was written")
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
			}
		})
	}
}

// TestDrainPlanBesideChange: no wave begins while a change of a cluster's members is unfinished, also if it began
// after the first wave.
func TestDrainPlanBesideChange(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		w := newWorld(t, verb{set: (*world).evicts})
		var once sync.Once
		w.Refuse = func(method, path string) int {
			if later && method == http.MethodPost && strings.HasSuffix(path, "/eviction") {
				once.Do(w.unfinished)
			}
			return 0
		}
		if !later {
			w.unfinished()
		}
		code := w.run(t.Context(), verb{path: "drain-plan", args: "node-1 node-2", lockless: true}, "--run", "-y", "--timeout", "20s")
		text := withoutGiven(w.err.String())
		if code != 2 || !strings.Contains(text, "kubectl etcd scale on StatefulSet team/main (scale from 3 to 4 members) has been unfinished") {
			t.Errorf("later %t: exit code %d:\n%s", later, code, text)
		}
		if later {
			wants(t, text, "stopped: the next wave can't begin: ", "to continue: kubectl etcd drain-plan node-2 --run")
		}
		if w.Get(operatetest.Path("Pod", "main-2")) == nil {
			t.Errorf("later %t: main-2 is evicted", later)
		}
	}
}

// forbid has the API server refuse to list what is under a path.
func (w *world) forbid(at string) {
	w.Refuse = func(method, path string) int {
		if method == http.MethodGet && path == at {
			return http.StatusForbidden
		}
		return 0
	}
}

// TestDrainPlanCompletion: the nodes that are not named yet complete an argument.
func TestDrainPlanCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, verb{})
	a := app.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &w.out, ErrOut: &w.err})
	root := newRootCmd(a)
	root.SetArgs([]string{"__complete", "drain-plan", "--kubeconfig", w.config, "--server", w.Config().Host, "node-1", "node-"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "node-0\nnode-2\nnode-3\nnode-4\n:4\n"; w.out.String() != want {
		t.Errorf("got %q, want %q", w.out.String(), want)
	}
}
