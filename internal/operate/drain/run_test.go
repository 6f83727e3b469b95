// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// TestRun: nodes are cordoned first, and then drained wave by wave, each when the members of the one
// before are back.
func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "node-1", "node-2")
	w.addNodes()
	w.addOther("web", "node-2")
	w.Refuse = func(string, string) int {
		w.Reconcile(t)
		return 0
	}
	if err := w.run.Do(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(w.steps, "\n"))
	}
	got := strings.Join(w.steps, "\n")
	at := 0
	for _, want := range []string{
		"cordoned node-1", "cordoned node-2", "evicted team/main-1 from node-1", "event main main-1", "drained node-1",
		"evicted team/main-2 from node-2", "event main main-2", "kubectl evicts web", "drained node-2",
	} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("after %q, %q is missing:\n%s", got[:at], want, got)
		}
		at += i + len(want)
	}
	for _, write := range w.Writes() {
		if strings.HasPrefix(write, "DELETE") {
			t.Errorf("it deleted: %s", write)
		}
	}
}

// TestRunStops: where a member can run on no other node, the next wave does not begin, and the error
// names the node to uncordon.
func TestRunStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "node-1", "node-2")
	w.addNodes("node-0", "node-3", "node-4")
	w.Refuse = func(string, string) int {
		if w.Get(operatetest.Path("Pod", "main-1")) == nil {
			w.Create(apitest.Object{
				"apiVersion": "v1", "kind": "Pod", "metadata": apitest.Object{"namespace": "team", "name": "main-1", "uid": "waiting", "labels": apitest.Object{"app": "main"},
					"ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "main", "uid": "sts", "controller": true}}},
				"spec":   apitest.Object{"containers": []any{apitest.Object{"name": "etcd", "image": "etcd", "command": []any{"etcd"}}}},
				"status": apitest.Object{"phase": "Pending"},
			})
		}
		return 0
	}
	err := w.run.Do(t.Context())
	stopped, is := errors.AsType[*operate.HaltedError](err)
	if !is || !strings.Contains(stopped.Error(), "uncordon node-1") {
		t.Fatalf("%v\n%s", err, strings.Join(w.steps, "\n"))
	}
	if len(w.run.Left) != 1 || w.run.Left[0] != "node-2" || len(w.run.Cordoned) != 2 {
		t.Errorf("left %v, cordoned %v", w.run.Left, w.run.Cordoned)
	}
	if w.Get(operatetest.Path("Pod", "main-2")) == nil {
		t.Error("main-2 is gone")
	}
}

// TestRunStopsWithoutNode: where the new pod of a member finds no node for minutes, although one should run
// it, the next wave does not begin.
func TestRunStopsWithoutNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "node-1", "node-2")
	w.addNodes()
	w.Refuse = func(string, string) int {
		if w.Get(operatetest.Path("Pod", "main-1")) == nil {
			w.Create(apitest.Object{
				"apiVersion": "v1", "kind": "Pod", "metadata": apitest.Object{"namespace": "team", "name": "main-1", "uid": "waiting", "labels": apitest.Object{"app": "main"},
					"ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "main", "uid": "sts", "controller": true}}},
				"spec": apitest.Object{"containers": []any{apitest.Object{"name": "etcd", "image": "etcd", "command": []any{"etcd"}}}},
				"status": apitest.Object{"phase": "Pending", "conditions": []any{apitest.Object{
					"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/6 nodes are available",
					"lastTransitionTime": time.Now().Add(-2 * nodeTimeout).UTC().Format(time.RFC3339),
				}}},
			})
		}
		return 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := w.run.Do(ctx)
	if stopped, is := errors.AsType[*operate.HaltedError](err); !is || !strings.Contains(stopped.Error(), "0/6 nodes are available") || !strings.Contains(stopped.Error(), "node node-1") {
		t.Fatalf("%v\n%s", err, strings.Join(w.steps, "\n"))
	}
	if w.Get(operatetest.Path("Pod", "main-2")) == nil {
		t.Error("main-2 is gone")
	}
}

// TestReplacedBy: the new pod of a Deployment's member is one that was not there before the eviction. Another member's
// pod that is newer than the evicted one, and that is on a node which is lost now, is none.
func TestReplacedBy(t *testing.T) {
	t.Parallel()
	now := time.Now()
	pod := func(uid string, ready corev1.ConditionStatus) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: uid, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(now)}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		return p
	}
	other := podstate.OnLostNode(pod("other", corev1.ConditionTrue), "node a does not exist", now)
	m := evicted{uid: "evicted", created: now.Add(-time.Hour), others: map[types.UID]bool{"evicted": true, "other": true}}
	for _, row := range []struct {
		what string
		pods []*corev1.Pod
		want string
	}{
		{"another one's node is lost", []*corev1.Pod{other}, ""},
		{"and the new pod starts", []*corev1.Pod{other, pod("new", corev1.ConditionFalse)}, "new"},
		{"and the new pod is on a lost node", []*corev1.Pod{other, podstate.OnLostNode(pod("new", corev1.ConditionTrue), "node a does not exist", now)}, "new"},
		{"and the new pod is Ready", []*corev1.Pod{other, pod("new", corev1.ConditionTrue)}, ""},
		{"the evicted pod", []*corev1.Pod{pod("evicted", corev1.ConditionFalse)}, ""},
	} {
		got := ""
		if p := m.replacedBy(row.pods); p != nil {
			got = p.Name
		}
		if got != row.want {
			t.Errorf("%s: it is replaced by %q, want %q", row.what, got, row.want)
		}
	}
}

// TestNotBack has a row per state of the pod that replaces an evicted one, and per age.
func TestNotBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := &Run{Job: &Job{Clock: testclock.NewFakeClock(now)}}
	waits := func(reason string, exit int32) corev1.ContainerStatus {
		c := corev1.ContainerStatus{Name: "etcd", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
		if exit != 0 {
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: exit, Message: "member has already been bootstrapped"}
		}
		return c
	}
	runs := corev1.ContainerStatus{Name: "etcd", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	for _, row := range []struct {
		name   string
		age    time.Duration
		node   string // empty for a pod that no node runs, "none" for no pod
		status corev1.ContainerStatus
		ready  bool
		want   string
	}{
		{"its data is lost", 11 * time.Minute, "node-2", waits("CrashLoopBackOff", 1), false, "CrashLoopBackOff: container etcd ended with exit code 1: member has already been bootstrapped"},
		{"its data is lost, a moment ago", 9 * time.Minute, "node-2", waits("CrashLoopBackOff", 1), false, ""},
		{"its image can't be read", 11 * time.Minute, "node-2", waits("ImagePullBackOff", 0), false, "ImagePullBackOff"},
		{"its image is being read", 11 * time.Minute, "node-2", waits("ContainerCreating", 0), false, ""},
		{"its image is being read for ever", 31 * time.Minute, "node-2", waits("ContainerCreating", 0), false, "has not become ready on node node-2 for 30m"},
		{"it restores a backup", 20 * time.Minute, "node-2", runs, false, ""},
		{"it hangs", 31 * time.Minute, "node-2", runs, false, "the readiness probe of container etcd fails"},
		{"its member hangs", 31 * time.Minute, "node-2", runs, true, "its member is not healthy after 30m"},
		{"no pod, a moment ago", 9 * time.Minute, "none", runs, false, ""},
		{"no pod", 11 * time.Minute, "none", runs, false, "no new pod was created within 10m after the eviction of pod team/main-1"},
		{"no node", time.Hour, "", runs, false, ""}, // unschedulable decides
	} {
		m := evicted{Back: drain.Back{Eviction: drain.Eviction{Namespace: "team", Pod: "main-1"}}, at: now.Add(-row.age)}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-1", CreationTimestamp: metav1.NewTime(now.Add(-2 * time.Hour))}}
		pod.Spec.NodeName = row.node
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{row.status}
		scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-row.age))}
		ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
		if row.ready {
			ready.Status = corev1.ConditionTrue
		}
		if pod.Status.Conditions = []corev1.PodCondition{scheduled, ready}; row.node == "none" {
			pod = nil
		}
		if got := r.notBack(m, pod); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestRunWaits: a run whose member does not come back waits until its time is over.
func TestRunWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "node-1", "node-2")
	w.addNodes()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := w.run.Do(ctx)
	if err == nil || !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "context deadline exceeded") {
		t.Fatalf("%v\n%s", err, strings.Join(w.steps, "\n"))
	}
	if w.Get(operatetest.Path("Pod", "main-2")) == nil {
		t.Error("main-2 is gone, and main-1 is not back")
	}
}

// TestEvictMemberThatStarted: a Pending pod that started etcd after it was observed takes a voter with it.
func TestEvictMemberThatStarted(t *testing.T) {
	t.Parallel()
	for state, evicted := range map[string]bool{"running": false, "waiting": true} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.unready("main-0")
			w.pending("main-1", "waiting")
			s, err := w.run.Observe(t.Context(), []string{"node-1"})
			if err != nil {
				t.Fatal(err)
			}
			w.pending("main-1", state)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err = w.run.evictMember(ctx, s.Nodes[0].Members[0]); (err == nil) != evicted {
				t.Errorf("%v", err)
			}
			if gone := w.Get(operatetest.Path("Pod", "main-1")) == nil; gone != evicted {
				t.Errorf("gone %t, want %t: %v", gone, evicted, w.steps)
			}
		})
	}
}

// TestEvict: a pod is evicted by its name and UID, so that a pod that was created since stays. A
// refusal by a budget is an error of that kind.
func TestEvict(t *testing.T) {
	t.Parallel()
	at := operatetest.Path("Pod", "main-1")
	for _, row := range []struct {
		name  string
		uid   string
		dry   bool
		gone  bool
		code  int
		there bool
		err   string
	}{
		{name: "the pod"},
		{name: "a dry run", dry: true, there: true},
		{name: "another pod of that name", uid: "earlier", there: true},
		{name: "no pod", gone: true},
		{name: "a budget refuses", code: http.StatusTooManyRequests, there: true, err: "refused by the test"},
		{name: "no permission", code: http.StatusForbidden, there: true, err: "evict team/main-1: "},
		{name: "the API server fails", code: http.StatusInternalServerError, there: true, err: "evict team/main-1: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			uid, _ := operatetest.Field(w.Get(at), "metadata")["uid"].(string)
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-1", UID: types.UID(cmp.Or(row.uid, uid))}}
			if row.gone {
				w.Remove(at)
			}
			w.Refuse = func(method, _ string) int {
				if method == http.MethodPost {
					return row.code
				}
				return 0
			}
			err := w.run.Evict(t.Context(), pod, row.dry)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if there := w.Get(at) != nil; there != row.there {
				t.Errorf("the pod is there: %t", there)
			}
		})
	}
}
