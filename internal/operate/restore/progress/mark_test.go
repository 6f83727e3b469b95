// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"net/http"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestUnmark: the mark is removed once. A write that is refused, and a StatefulSet that is gone, are errors.
func TestUnmark(t *testing.T) {
	t.Parallel()
	c, set := operatetest.NewCluster(t), operatetest.Path("StatefulSet", "main")
	kube, o := c.Client(t), owned
	operatetest.Field(c.Get(set), "metadata")["annotations"] = apitest.Object{v1alpha1.RestoreAnnotation: "x", "note": "y"}
	c.Refuse = func(method, _ string) int {
		if method == http.MethodPatch {
			return http.StatusForbidden
		}
		return 0
	}
	if err := Unmark(t.Context(), kube, o); err == nil {
		t.Error("a refused write is no error")
	}
	c.Refuse = nil
	for range 2 {
		if err := Unmark(t.Context(), kube, o); err != nil {
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
	if err := Unmark(t.Context(), kube, o); err == nil {
		t.Error("a StatefulSet that is gone is no error")
	}
}
