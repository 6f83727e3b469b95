// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

// TestRemoveEvictions: the records of evictions leave StatefulSets, other annotations stay, and a refused
// write of one is an error that names it.
func TestRemoveEvictions(t *testing.T) {
	t.Parallel()
	const recorded, other = "/apis/apps/v1/namespaces/team/statefulsets/main", "/apis/apps/v1/namespaces/team/statefulsets/other"
	for name, code := range map[string]int{"removed": 0, "gone meanwhile": http.StatusNotFound, "denied": http.StatusForbidden} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			put := func(path, name string, annotations apitest.Object) {
				s.Put(path, apitest.Object{
					"apiVersion": "apps/v1", "kind": "StatefulSet",
					"metadata": apitest.Object{"namespace": "team", "name": name, "annotations": annotations},
				})
			}
			put(recorded, "main", apitest.Object{"kubectl-etcd.dev/evictions": "main-0=u@2026-11-20T10:00:00Z", "theirs": "stays"})
			put(other, "other", apitest.Object{"theirs": "stays"})
			var patched []string
			s.Refuse = func(method, path string) int {
				if method != http.MethodPatch {
					return 0
				}
				patched = append(patched, path)
				return code
			}
			u := &Uninstaller{Kube: s.Client(t)}
			err := u.removeEvictions(t.Context())
			if denied := code == http.StatusForbidden; denied != (err != nil) || denied && !strings.Contains(err.Error(), "StatefulSet team/main") {
				t.Errorf("the error is %v", err)
			}
			if len(patched) != 1 {
				t.Errorf("patched are %v", patched)
			}
			meta, _ := s.Get(recorded)["metadata"].(apitest.Object)
			annotations, _ := meta["annotations"].(apitest.Object)
			if _, has := annotations["kubectl-etcd.dev/evictions"]; has != (code != 0) || annotations["theirs"] != "stays" {
				t.Errorf("the annotations are %v", annotations)
			}
		})
	}
}
