// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(core+"configmaps/main-config", "v1", "ConfigMap", apitest.Object{"data": apitest.Object{"other": "stays"}})
	a := Patch{ConfigMap, "main-config", map[string]any{"data": map[string]any{"etcd.conf.yaml": "name: 'a'\n"}}}
	wantCommand(t, a, `kubectl --context desk -n team patch configmap/main-config --type merge -p '{"data":{"etcd.conf.yaml":"name: '\''a'\''\n"}}'`)
	w.do(t, a)
	w.wantField(t, core+"configmaps/main-config", apitest.Object{"other": "stays", "etcd.conf.yaml": "name: 'a'\n"}, "data")
	w.Remove(core + "configmaps/main-config")
	wantError(t, a.Do(t.Context(), w.clients), "patch configmap main-config")
}

func TestRetainVolumes(t *testing.T) {
	t.Parallel()
	const volumes = "/api/v1/persistentvolumes/"
	w := newWorld(t)
	for claim, bound := range map[string]string{"data-main-0": "pv-a", "data-main-1": "pv-b"} {
		w.put(core+"persistentvolumeclaims/"+claim, "v1", "PersistentVolumeClaim", apitest.Object{"spec": apitest.Object{"volumeName": bound}})
		w.put(volumes+bound, "v1", "PersistentVolume", apitest.Object{"spec": apitest.Object{"persistentVolumeReclaimPolicy": "Delete"}})
	}
	a := RetainVolumes{Claims: []string{"data-main-0", "data-main-1"}}
	wantCommand(t, a, `for claim in data-main-0 data-main-1; do
  kubectl --context desk patch pv "$(kubectl --context desk -n team get pvc $claim -o jsonpath='{.spec.volumeName}')" -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'
done`)
	w.do(t, a)
	w.wantField(t, volumes+"pv-a", "Retain", "spec", "persistentVolumeReclaimPolicy")
	w.wantField(t, volumes+"pv-b", "Retain", "spec", "persistentVolumeReclaimPolicy")
	w.put(core+"persistentvolumeclaims/data-main-0", "v1", "PersistentVolumeClaim", nil)
	w.do(t, a) // it has no volume
	if got := (RetainVolumes{Unbound: []string{"data-main-0"}}).Command(flags); got != "true # no claim has a volume" {
		t.Errorf("the command is %q", got)
	}
	w.put(core+"persistentvolumeclaims/data-main-0", "v1", "PersistentVolumeClaim", apitest.Object{"spec": apitest.Object{"volumeName": "pv-gone"}})
	w.do(t, a) // the volume is gone
	w.put(core+"persistentvolumeclaims/data-main-0", "v1", "PersistentVolumeClaim", apitest.Object{"spec": apitest.Object{"volumeName": "pv-c"}})
	w.put(volumes+"pv-c", "v1", "PersistentVolume", apitest.Object{"spec": apitest.Object{"persistentVolumeReclaimPolicy": "Delete"}})
	w.do(t, RetainVolumes{Unbound: []string{"data-main-0"}}) // it has a volume by now
	w.wantField(t, volumes+"pv-c", "Retain", "spec", "persistentVolumeReclaimPolicy")
	w.Remove(core + "persistentvolumeclaims/data-main-0")
	w.Remove(core + "persistentvolumeclaims/data-main-0")
	w.do(t, a) // an interrupted run has deleted the claim
}

// TestRetainVolumesMark: the mark has the policy from before, also when an interrupted run has retained the volume.
func TestRetainVolumesMark(t *testing.T) {
	t.Parallel()
	const pv = "/api/v1/persistentvolumes/pv-a"
	w := newWorld(t)
	w.put(core+"persistentvolumeclaims/data-main-0", "v1", "PersistentVolumeClaim", apitest.Object{"spec": apitest.Object{"volumeName": "pv-a"}})
	w.put(pv, "v1", "PersistentVolume", apitest.Object{"spec": apitest.Object{"persistentVolumeReclaimPolicy": "Delete"}})
	a := RetainVolumes{Claims: []string{"data-main-0"}, Mark: Annotation{Key: "kept", Value: "T u"}}
	wantCommand(t, a, `for claim in data-main-0; do
  kubectl --context desk patch pv "$(kubectl --context desk -n team get pvc $claim -o jsonpath='{.spec.volumeName}')" -p '{"metadata":{"annotations":{"kept":"T u"}},"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'
done`)
	for range 2 {
		w.do(t, a)
		w.wantField(t, pv, "T u Delete", "metadata", "annotations", "kept")
		w.wantField(t, pv, "Retain", "spec", "persistentVolumeReclaimPolicy")
	}
}

func TestAnnotate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		overwrite bool
		has       apitest.Object
		changes   []Annotation
		command   string
		want      any
		err       string
	}{
		{
			name: "set and remove", overwrite: true, has: apitest.Object{suspend: "", "theirs": "stays"}, changes: []Annotation{{Key: suspend, Remove: true}, {Key: operates, Value: "reconcile"}},
			command: "annotate --overwrite etcd/main " + suspend + "- " + operates + "=reconcile", want: apitest.Object{operates: "reconcile", "theirs": "stays"},
		},
		{
			name: "a value with a space", has: apitest.Object{}, changes: []Annotation{{Key: suspend, Value: "by: ann"}},
			command: "annotate etcd/main '" + suspend + "=by: ann'", want: apitest.Object{suspend: "by: ann"},
		},
		{
			name: "another client has set it", has: apitest.Object{suspend: "theirs"}, changes: []Annotation{{Key: suspend, Value: "ours"}},
			command: "annotate etcd/main " + suspend + "=ours", want: apitest.Object{suspend: "theirs"}, err: `is "theirs" already`,
		},
		{
			name: "the same value", has: apitest.Object{suspend: ""}, changes: []Annotation{{Key: suspend}},
			command: "annotate etcd/main " + suspend + "=", want: apitest.Object{suspend: ""},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(druid, "druid.gardener.cloud/v1alpha1", "Etcd", apitest.Object{"metadata": apitest.Object{"annotations": row.has}})
			a := Annotate{Etcd, "main", row.overwrite, row.changes}
			wantCommand(t, a, "kubectl --context desk -n team "+row.command)
			if err := a.Do(t.Context(), w.clients); row.err != "" {
				wantError(t, err, row.err)
			} else if err != nil {
				t.Error(err)
			}
			w.wantField(t, druid, row.want, "metadata", "annotations")
		})
	}
	wantError(t, Annotate{Kind: Etcd, Name: "other"}.Do(t.Context(), newWorld(t).clients), "there is no such object")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(leases+"main-0", "coordination.k8s.io/v1", "Lease", nil)
	w.put(core+"pods/restore-main-0", "v1", "Pod", nil)
	lease := Delete{Kind: Lease, Names: []string{"main-0", "main-1"}, IgnoreMissing: true}
	wantCommand(t, lease, "kubectl --context desk -n team delete lease --ignore-not-found main-0 main-1")
	w.do(t, lease)
	pod := Delete{Kind: Pod, Names: []string{"restore-main-0"}}
	wantCommand(t, pod, "kubectl --context desk -n team delete pod --wait restore-main-0")
	w.do(t, pod)
	if w.Get(leases+"main-0") != nil || w.Get(core+"pods/restore-main-0") != nil {
		t.Errorf("there are %q", w.Paths())
	}
	wantError(t, pod.Do(t.Context(), w.clients), "delete pod restore-main-0")
	wantCommand(t, Delete{Kind: Claim, Names: []string{"a"}}, "kubectl --context desk -n team delete pvc a")
}

// keeping is a cluster in which a finalizer keeps what is deleted.
type keeping struct{ client.Client }

func (keeping) Delete(context.Context, client.Object, ...client.DeleteOption) error { return nil }

// TestDeleteWaits: an object that a finalizer keeps is not deleted yet.
func TestDeleteWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(core+"pods/restore-main-0", "v1", "Pod", nil)
	w.clients.Kube = keeping{w.clients.Kube}
	wantError(t, Delete{Kind: Pod, Names: []string{"restore-main-0"}}.Do(t.Context(), w.clients), "timed out")
}

// TestMerge: a body is merged into one object. Nothing is created for one that is gone.
func TestMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := map[string]any{"metadata": map[string]any{"annotations": map[string]any{operates: "reconcile"}}}
	if err := w.clients.merge(t.Context(), Etcd, "main", body); err != nil {
		t.Fatal(err)
	}
	w.wantField(t, druid, apitest.Object{operates: "reconcile"}, "metadata", "annotations")
	wantError(t, w.clients.merge(t.Context(), Etcd, "other", body), "patch etcd other")
	wantError(t, w.clients.merge(t.Context(), Etcd, "main", func() {}), "unsupported type")
	before := w.Writes()
	w.refuse(http.MethodPatch)
	wantError(t, w.clients.merge(t.Context(), Etcd, "main", map[string]any{"spec": nil}), "patch etcd main: refused by the test")
	if !slices.Equal(w.Writes(), before) || w.Get(druid)["spec"] != nil || len(before) != 2 {
		t.Errorf("writes are %q, the Etcd is %v", w.Writes(), w.Get(druid))
	}
}
