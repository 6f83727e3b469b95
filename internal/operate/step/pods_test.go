// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

const manifest = `apiVersion: v1
kind: Pod
metadata:
  name: restore-MARK
  namespace: team
spec:
  containers:
  - image: busybox
    name: files
`

func TestCreatePods(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), CreatePods{Pods: []string{"main-0", "main-1"}, Manifest: manifest, Mark: "MARK"}
	wantCommand(t, a, "for pod in main-0 main-1; do\nsed \"s/MARK/$pod/g\" <<'EOF' | kubectl --context desk -n team create -f -\n"+manifest+"EOF\ndone")
	w.do(t, a)
	wantError(t, a.Do(t.Context(), w.clients), "create pod restore-")
	w.wantField(t, core+"pods/restore-main-0", "restore-main-0", "metadata", "name")
	w.wantField(t, core+"pods/restore-main-1", "restore-main-1", "metadata", "name")
	wantError(t, CreatePods{Pods: a.Pods, Manifest: "kind: [", Mark: "MARK"}.Do(t.Context(), w.clients), "read the manifest of a pod")
}

func TestCreatePod(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), CreatePod{Manifest: manifest}
	wantCommand(t, a, "kubectl --context desk -n team create -f - <<'EOF'\n"+manifest+"EOF")
	w.do(t, a)
	w.wantField(t, core+"pods/restore-MARK", "restore-MARK", "metadata", "name")
	// Another client's pod stays as it is.
	w.put(core+"pods/restore-MARK", "v1", "Pod", apitest.Object{"spec": apitest.Object{"nodeName": "node-7"}})
	wantError(t, a.Do(t.Context(), w.clients), "create pod restore-")
	wantError(t, a.Try(t.Context(), w.clients), "pod restore-MARK is in the way")
	w.wantField(t, core+"pods/restore-MARK", "node-7", "spec", "nodeName")
	w.Remove(core + "pods/restore-MARK")
	w.refuse(http.MethodPost)
	wantError(t, a.Do(t.Context(), w.clients), "create pod restore-MARK: refused by the test")
	wantError(t, CreatePod{Manifest: "specc: {}"}.Do(t.Context(), w.clients), "read the manifest of a pod")
	if w.Get(core+"pods/restore-MARK") != nil {
		t.Error("a pod was created")
	}
}

// TestTryPod: the API server tries a pod, and nothing is created.
func TestTryPod(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), CreatePod{Manifest: manifest}
	if err := a.Try(t.Context(), w.clients); err != nil || w.Get(core+"pods/restore-MARK") != nil {
		t.Errorf("%v, a pod: %v", err, w.Get(core+"pods/restore-MARK"))
	}
	w.refuse(http.MethodPost)
	wantError(t, a.Try(t.Context(), w.clients), "create pod restore-MARK: refused by the test")
	wantError(t, a.create(t.Context(), w.clients), "create pod restore-MARK: refused by the test")
}

func TestForEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := ForEach{Pods: []string{"main-0", "main-1"}, Acts: []PodAction{
		Exec{Pod: "restore-$pod", Args: []string{"sh", "-c", "test ! -e /nowhere/at/all"}},
		Exec{Pod: "restore-$pod", Args: []string{"true"}},
	}}
	wantCommand(t, a, `for pod in main-0 main-1; do
  kubectl --context desk -n team exec restore-$pod -- sh -c 'test ! -e /nowhere/at/all'
  kubectl --context desk -n team exec restore-$pod -- true
done`)
	w.do(t, a)
	want := []string{"restore-main-0 sh -c test ! -e /nowhere/at/all", "restore-main-0 true", "restore-main-1 sh -c test ! -e /nowhere/at/all", "restore-main-1 true"}
	if diff := cmp.Diff(want, w.ran); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.Acts = slices.Insert(a.Acts, 0, PodAction(Exec{Pod: "restore-$pod", Args: []string{"false"}}))
	wantError(t, a.Do(t.Context(), w.clients), "run false in pod restore-main-0")
}

func TestLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tool := Program{Env: []string{"ETCDCTL_API=3"}, Lines: [][]string{{"etcdctl", "snapshot", "restore", "my file.db"}, {"--name", "main-0"}}}
	wantCommand(t, tool, "ETCDCTL_API=3 etcdctl snapshot restore 'my file.db' \\\n  --name main-0")
	w.do(t, tool)
	verb := Plugin{Args: []string{"snapshot", "save", "etcd/main", "a b.db"}}
	wantCommand(t, verb, "kubectl etcd --context desk -n team --cert a.crt snapshot save etcd/main 'a b.db'")
	w.do(t, verb)
	want := []string{"ETCDCTL_API=3 etcdctl snapshot restore my file.db --name main-0", "snapshot save etcd/main a b.db"}
	if diff := cmp.Diff(want, w.ran); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	hand := ByHand{Text: "cp main.db THE-STORE/main"}
	wantCommand(t, hand, "cp main.db THE-STORE/main")
	wantError(t, hand.Do(t.Context(), w.clients), "this step is for a person")
	check := CheckSnapshot{File: "pods_test.go"}
	wantCommand(t, check, "kubectl etcd snapshot status pods_test.go")
	if err := check.Do(t.Context(), w.clients); err == nil {
		t.Error("a file that is no snapshot passes")
	}
}

// TestDeleteHelpers: only a helper pod of the cluster is deleted, in the version that was read. Another client's pod
// can have any name and label.
func TestDeleteHelpers(t *testing.T) {
	t.Parallel()
	act := DeleteHelpers{Names: []string{"main-0-restore"}, Of: "u"}
	wantCommand(t, act, "kubectl --context desk -n team delete pod -l kubectl-etcd.dev/restore-of=u")
	const at = core + "pods/main-0-restore"
	for label, want := range map[string]string{"u": "", "": `is ""`, "other": `is "other"`} {
		w := newWorld(t)
		w.put(at, "v1", "Pod", apitest.Object{"metadata": apitest.Object{"uid": "pod", "labels": apitest.Object{v1alpha1.RestoreOfLabel: label}}})
		try := CreatePod{Manifest: "metadata: {name: main-0-restore, namespace: team, labels: {" + v1alpha1.RestoreOfLabel + ": u}}"}.Try(t.Context(), w.clients)
		if want == "" {
			w.do(t, act)
			if try != nil {
				t.Error(try)
			}
		} else {
			wantError(t, act.Do(t.Context(), w.clients), want)
			wantError(t, try, want)
		}
		if deleted := w.Get(at) == nil; deleted != (want == "") {
			t.Errorf("%q: deleted is %t", label, deleted)
		}
	}
	w := newWorld(t)
	w.do(t, act)
	w.put(at, "v1", "Pod", nil)
	wantError(t, DeleteHelpers{Names: act.Names}.Do(t.Context(), w.clients), `is ""`)
}

// replacing is a cluster in which another client replaces a pod after it is read.
type replacing struct {
	client.Client

	world *world
	at    string
}

func (r replacing) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Client.Get(ctx, key, o, opts...)
	r.world.Remove(r.at)
	r.world.put(r.at, "v1", "Pod", apitest.Object{"metadata": apitest.Object{"uid": "new"}})
	return err
}

// TestDeleteHelpersReplaced: a pod that another client has created since is not deleted.
func TestDeleteHelpersReplaced(t *testing.T) {
	t.Parallel()
	const at = core + "pods/main-0-restore"
	w := newWorld(t)
	w.put(at, "v1", "Pod", apitest.Object{"metadata": apitest.Object{"uid": "pod", "labels": apitest.Object{v1alpha1.RestoreOfLabel: "u"}}})
	w.clients.Kube = replacing{w.clients.Kube, w, at}
	wantError(t, DeleteHelpers{Names: []string{"main-0-restore"}, Of: "u"}.Do(t.Context(), w.clients), "delete pod main-0-restore")
	if w.Get(at) == nil {
		t.Error("the pod is deleted")
	}
}
