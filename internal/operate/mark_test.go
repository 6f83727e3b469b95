// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"net/http"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestUnmark: the mark is removed once. A write that is refused, and a StatefulSet that is gone, are errors.
func TestUnmark(t *testing.T) {
	t.Parallel()
	c, set := operatetest.NewCluster(t), operatetest.Path("StatefulSet", "main")
	kube, o := c.Client(t), owner.Owner{Namespace: "team", StatefulSet: "main"}
	operatetest.Field(c.Get(set), "metadata")["annotations"] = apitest.Object{v1alpha1.RestoreAnnotation: "x", "note": "y"}
	c.Refuse = func(method, _ string) int {
		if method == http.MethodPatch {
			return http.StatusForbidden
		}
		return 0
	}
	if err := Unmark(t.Context(), kube, o, v1alpha1.RestoreAnnotation); err == nil {
		t.Error("a refused write is no error")
	}
	c.Refuse = nil
	for range 2 {
		if err := Unmark(t.Context(), kube, o, v1alpha1.RestoreAnnotation); err != nil {
			t.Fatal(err)
		}
	}
	left := operatetest.Field(c.Get(set), "metadata", "annotations")
	if _, marked := left[v1alpha1.RestoreAnnotation]; marked || left["note"] != "y" {
		t.Errorf("annotations are %v", left)
	}
	if writes := c.Writes(); len(writes) != 1 {
		t.Errorf("writes are %q, want one", writes)
	}
	c.Remove(set)
	if err := Unmark(t.Context(), kube, o, v1alpha1.RestoreAnnotation); err == nil {
		t.Error("a StatefulSet that is gone is no error")
	}
}

// TestUnmarked: the refusal names the objects, the reason, and both ways to go on.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	got := Unmarked{
		Owner: owner.Owner{Namespace: "team", StatefulSet: "main"}, Journal: "kubectl-etcd-main", Operation: "restore", On: "into StatefulSet team/main",
		Has: "has 3 steps that are done", Annotation: v1alpha1.RestoreAnnotation, When: "it stops the members",
		If: "the restore did stop the members", Value: `"$(date) REPLICAS"`, With: ", with the number of replicas in place of REPLICAS",
	}.String()
	const want = "the journal of a restore into StatefulSet team/main (ConfigMap kubectl-etcd-main) has 3 steps that are done, and StatefulSet main doesn't have annotation kubectl-etcd.dev/restore, which the restore sets when it stops the members. " +
		"Every user who may write ConfigMaps can write the journal, so nothing is done because of it. If the restore did stop the members, set the annotation again, with the number of replicas in place of REPLICAS, and repeat the command: " +
		`kubectl annotate statefulset main kubectl-etcd.dev/restore="$(date) REPLICAS" -n team. Otherwise remove the journal: kubectl delete configmap kubectl-etcd-main -n team`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
