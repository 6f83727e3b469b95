// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestEvict: a pod is evicted by its name and UID, so that a pod that was created since stays. A refusal
// is an error that a retry may help, unless the user lacks the permission.
func TestEvict(t *testing.T) {
	t.Parallel()
	const at = "/api/v1/namespaces/team/pods/main-2"
	for _, row := range []struct {
		name string
		uid  types.UID
		gone bool
		dry  bool
		code int
		// there is whether the pod is there at the end.
		there     bool
		err       string
		permanent bool
	}{
		{name: "E-1 the pod", uid: "first"},
		{name: "E-2 a dry run", uid: "first", dry: true, there: true},
		{name: "E-3 another pod of that name", uid: "earlier", there: true},
		{name: "E-4 no pod", uid: "first", gone: true},
		{name: "E-5 a budget refuses", uid: "first", code: http.StatusTooManyRequests, there: true, err: "the eviction of main-2 is refused for now: "},
		{name: "E-6 a budget refuses the dry run", uid: "first", dry: true, code: http.StatusTooManyRequests, there: true, err: "the eviction of main-2 is refused for now: "},
		{name: "E-7 no permission", uid: "first", code: http.StatusForbidden, there: true, err: "evict main-2: ", permanent: true},
		{name: "E-8 the API server fails", uid: "first", code: http.StatusInternalServerError, there: true, err: "evict main-2: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			if !row.gone {
				s.Put(at, apitest.Object{"apiVersion": "v1", "kind": "Pod", "metadata": apitest.Object{"namespace": "team", "name": "main-2", "uid": "first"}})
			}
			kube := s.Client(t)
			s.Refuse = func(method, _ string) int {
				if method == http.MethodPost {
					return row.code
				}
				return 0
			}
			j := &Job{Kube: kube, Owner: owner.Owner{Kind: "StatefulSet", Namespace: "team", Name: "main"}}
			evicted, err := j.evict(t.Context(), "main-2", row.uid, row.dry)
			if (err == nil) != (row.err == "") || err != nil && (!strings.Contains(err.Error(), row.err) || permanent(err) != row.permanent) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if want := row.err == "" && !row.gone && row.uid == "first"; evicted != want {
				t.Errorf("evicted: %t, want %t", evicted, want)
			}
			if there := s.Get(at) != nil; there != row.there {
				t.Errorf("the pod is there: %t", there)
			}
			for _, w := range s.Writes() {
				if w != "POST "+at+"/eviction" {
					t.Errorf("it wrote %q", w)
				}
			}
		})
	}
}
