// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// meanwhile calls change once, between the question and the lock: with the first request that
// makes the lock or, for a verb without a lock, with the first write that it tries.
func (w *world) meanwhile(change func(*world)) {
	var once sync.Once
	w.Refuse = func(method, path string) int {
		if method == http.MethodPost && path+"/" == operatetest.Path("Lease", "") || method == http.MethodDelete {
			once.Do(func() { change(w) })
		}
		return 0
	}
}

// renamed makes the object of a cluster another one with the same name.
func (w *world) renamed() {
	for _, kind := range []string{"StatefulSet", "Etcd"} {
		if o := w.Get(operatetest.Path(kind, "main")); o != nil {
			operatetest.Field(o, "metadata")["uid"] = "another"
		}
	}
	if w.Get(operatetest.Path("Etcd", "main")) != nil {
		refs, _ := operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")["ownerReferences"].([]any)
		for _, ref := range refs {
			ref.(apitest.Object)["uid"] = "another" //nolint:forcetypeassert // as druid made it
		}
	}
}

// rescaled has another client set the replicas.
func (w *world) rescaled() {
	owner := w.Get(operatetest.Path("Etcd", "main"))
	if owner == nil {
		owner = w.Get(operatetest.Path("StatefulSet", "main"))
	}
	operatetest.Field(owner, "spec")["replicas"] = 7
}

// objects is the state without locks.
func (w *world) objects() string {
	lines := strings.SplitAfter(w.state(), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, operatetest.Path("Lease", "")) }), "")
}

// TestNewFacts: no verb acts on facts from before the question. What changes between the
// question and the lock ends the command, and nothing but the lock is written.
func TestNewFacts(t *testing.T) {
	t.Parallel()
	is := func(paths ...string) func(verb) bool {
		return func(v verb) bool { return slices.Contains(paths, v.path) }
	}
	for _, row := range []struct {
		name   string
		change func(*world)
		of     func(verb) bool
		text   string
	}{
		{"another object", (*world).renamed, func(v verb) bool { return !v.lockless }, planChanged},
		{"another manager", (*world).druid, func(v verb) bool { return strings.HasPrefix(v.args, "statefulset/") }, planChanged},
		{"a manager appears", (*world).managed, func(v verb) bool {
			return is("member add", "member promote", "member replace", "scale")(v) && strings.HasPrefix(v.args, "statefulset/")
		}, "refused: cannot "},
		{"a member is down", func(w *world) { w.Etcd.Stop("main-1") }, is("defrag", "move-leader", "scale", "member replace", "member add", "restart"), "refused: "},
		{"another leader", func(w *world) { w.Etcd.Leader = 2 }, is("move-leader", "defrag", "restart"), ""},
		{"another number of replicas", (*world).rescaled, is("scale", "member replace", "defrag", "restart"), ""},
		{"another pod", func(w *world) {
			operatetest.Field(w.Get(operatetest.Path("Pod", "main-2")), "metadata")["uid"] = "another"
		}, is("member replace"), planChanged},
		{"another member", func(w *world) { w.Etcd.Members[2].ID, w.Etcd.Members[2].IsLearner = 99, false }, is("member promote", "member remove"), ""},
		{"the Service is gone", func(w *world) { w.Remove(operatetest.Path("Service", "main")) }, is("cut-client-traffic"), "no Service leads clients to it"},
		{"the alarm is gone", func(w *world) { w.Etcd.Alarms = nil }, is("alarm disarm"), planChanged},
		{"another alarm", func(w *world) { w.Etcd.Alarms = []*pb.AlarmMember{{MemberID: 3, Alarm: pb.AlarmType_NOSPACE}} }, is("alarm disarm"), planChanged},
		{"an alarm", raiseNoSpace, is("defrag"), planChanged},
		{"another object to delete", func(w *world) {
			w.Create(apitest.Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apitest.Object{
				"namespace": "etcd-webhook", "name": "another", "labels": apitest.Object{"app.kubernetes.io/name": "etcd-webhook", "app.kubernetes.io/part-of": "kubectl-etcd"},
			}})
		}, is("webhook uninstall"), "the installation " + planChanged},
		{"the store is gone", func(w *world) {
			delete(operatetest.Field(w.Get(operatetest.Path("Etcd", "main")), "spec"), "backup")
		}, is("snapshot save"), "it has no backup store"},
		{"the installation is gone", func(w *world) { w.Remove(operatetest.Path("Deployment", "etcd-webhook")) }, is("webhook uninstall"), "the installation " + planChanged},
	} {
		for _, v := range verbs {
			if row.of(v) {
				newFacts(t, row.name, v, row.change, row.text)
			}
		}
	}
}

// newFacts runs a verb while change happens between the question and the lock.
func newFacts(t *testing.T, name string, v verb, change func(*world), text string) {
	t.Helper()
	t.Run(name+"/"+v.name(), func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, v)
		var before string
		w.meanwhile(func(w *world) {
			change(w)
			before = w.objects()
		})
		if code := w.run(t.Context(), v, "-y", "--timeout", "30s"); code == 0 {
			t.Errorf("exit code %d", code)
		}
		if !strings.Contains(w.err.String(), text) {
			t.Errorf("stderr lacks %q", text)
		}
		if after := w.objects(); after != before {
			t.Errorf("something was written:\n%s\nbefore:\n%s", after, before)
		}
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
		}
	})
}
