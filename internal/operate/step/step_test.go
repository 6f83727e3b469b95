// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

var flags = Flags{Kubectl: "--context desk -n team", Context: " --context desk", Login: " --cert a.crt"}

const (
	core     = "/api/v1/namespaces/team/"
	set      = "/apis/apps/v1/namespaces/team/statefulsets/main"
	druid    = "/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/main"
	leases   = "/apis/coordination.k8s.io/v1/namespaces/team/leases/"
	suspend  = "druid.gardener.cloud/suspend-etcd-spec-reconcile"
	operates = "druid.gardener.cloud/operation"
)

// world is a cluster in memory in which actions are done.
type world struct {
	*apitest.Server

	clients Clients
	// ran is what was run in pods, on this machine and by the plugin.
	ran []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Server: apitest.New(t)}
	record := func(args ...string) error {
		w.ran = append(w.ran, strings.Join(args, " "))
		return nil
	}
	w.clients = Clients{
		Kube: w.Client(t), Namespace: "team", Clock: &operatetest.HastyClock{Time: time.Unix(0, 0)},
		// The pods are this machine, so that a command finds what another has written.
		Exec: func(ctx context.Context, pod string, command []string, in io.Reader, out io.Writer) error {
			_ = record(slices.Concat([]string{pod}, command)...)
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			cmd.Stdin, cmd.Stdout = in, out
			return cmd.Run()
		},
		Run:    func(_ context.Context, env, program []string) error { return record(slices.Concat(env, program)...) },
		Plugin: func(_ context.Context, args []string) error { return record(args...) },
	}
	w.put(set, "apps/v1", "StatefulSet", apitest.Object{"spec": apitest.Object{"replicas": 3}, "status": apitest.Object{"readyReplicas": 2}})
	w.put(druid, "druid.gardener.cloud/v1alpha1", "Etcd", apitest.Object{})
	return w
}

// put keeps an object under its path.
func (w *world) put(at, version, kind string, o apitest.Object) {
	if o == nil {
		o = apitest.Object{}
	}
	meta, _ := o["metadata"].(apitest.Object)
	if meta == nil {
		meta = apitest.Object{}
	}
	meta["name"], meta["namespace"] = at[strings.LastIndex(at, "/")+1:], "team"
	o["metadata"], o["apiVersion"], o["kind"] = meta, version, kind
	w.Put(at, o)
}

func (w *world) do(t *testing.T, a Action) {
	t.Helper()
	if err := a.Do(t.Context(), w.clients); err != nil {
		t.Fatal(err)
	}
}

// wantCommand compares the command of an action.
func wantCommand(t *testing.T, a Action, want string) {
	t.Helper()
	if diff := cmp.Diff(want, a.Command(flags)); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
}

// wantField compares a field of an object in the cluster.
func (w *world) wantField(t *testing.T, at string, want any, path ...string) {
	t.Helper()
	var value any = w.Get(at)
	for _, key := range path {
		below, _ := value.(apitest.Object)
		value = below[key]
	}
	if diff := cmp.Diff(want, value); diff != "" {
		t.Errorf("%s of %s (-want +got):\n%s", strings.Join(path, "."), at, diff)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v, want %q", err, text)
	}
}

// refuse lets the API server refuse a method.
func (w *world) refuse(method string) {
	w.Refuse = func(m, _ string) int {
		if m == method {
			return http.StatusForbidden
		}
		return 0
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), Scale{StatefulSet: "main", Replicas: 0}
	wantCommand(t, a, "kubectl --context desk -n team scale statefulset/main --replicas=0")
	w.do(t, a)
	w.wantField(t, set, 0.0, "spec", "replicas")
	if writes := w.Writes(); !slices.Equal(writes, []string{"PATCH " + set + "/scale"}) {
		t.Errorf("writes are %q", writes)
	}
	w.refuse(http.MethodPatch)
	wantError(t, a.Do(t.Context(), w.clients), "scale StatefulSet main to 0")
}

// A declaration is the same by the command and by the API.
func TestScaleDeclared(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), Scale{StatefulSet: "main", Replicas: 1, Declared: true}
	wantCommand(t, a, `kubectl --context desk -n team patch statefulset/main --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"1 at '$(date -u +%FT%TZ)'"}},"spec":{"replicas":1}}'`)
	w.do(t, a)
	w.wantField(t, set, 1.0, "spec", "replicas")
	if writes := w.Writes(); !slices.Equal(writes, []string{"PATCH " + set}) {
		t.Errorf("writes are %q", writes)
	}
}

// TestScaleMarks: each write of the replicas by a restore has another mark, in the same write, and the commands none.
func TestScaleMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, a := range []Scale{{StatefulSet: "main", Mark: true}, {StatefulSet: "main", Replicas: 1, Declared: true, Mark: true}} {
		unmarked := a
		unmarked.Mark = false
		wantCommand(t, a, unmarked.Command(flags))
		w.do(t, a)
		w.wantField(t, set, float64(a.Replicas), "spec", "replicas")
		w.wantField(t, set, w.clients.Clock.Now().UTC().Format(time.RFC3339Nano)+" 3", "metadata", "annotations", v1alpha1.RestoreAnnotation)
	}
	if writes := w.Writes(); !slices.Equal(writes, []string{"PATCH " + set, "PATCH " + set}) {
		t.Errorf("writes are %q", writes)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	s := Step{Title: "Stop", Acts: []Action{Scale{StatefulSet: "main"}, Plugin{[]string{"status", "etcd/main"}}}}
	want := []string{"kubectl --context desk -n team scale statefulset/main --replicas=0", "kubectl etcd --context desk -n team --cert a.crt status etcd/main"}
	if diff := cmp.Diff(want, s.Commands(flags)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
