// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

const heldSet = "/apis/apps/v1/namespaces/team/statefulsets/main"

// putHeld keeps a StatefulSet whose rollout etcd-webhook holds. It runs no etcd, so that a release needs no members.
func putHeld(s *apitest.Server) {
	s.Put(heldSet, apitest.Object{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": apitest.Object{"namespace": "team", "name": "main", "annotations": apitest.Object{
			"kubectl-etcd.dev/rollout-value": "partition=3", "kubectl-etcd.dev/rollout-author": `{"type":"RollingUpdate"}`,
			"kubectl-etcd.dev/rollout-since": "2026-11-20T10:00:00Z", "kubectl-etcd.dev/rollout-reason": "MemberDown", "theirs": "stays",
		}},
		"spec": apitest.Object{"replicas": 3, "updateStrategy": apitest.Object{"type": "RollingUpdate", "rollingUpdate": apitest.Object{"partition": 3}}},
	})
}

// TestRestoreRollouts: a strategy is restored although other clients write the StatefulSet, and
// success is logged for one that is restored only.
func TestRestoreRollouts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		// conflicts is how many writes another client is faster than. gone removes the StatefulSet
		// at the first. code refuses every write.
		conflicts int
		gone      bool
		code      int
		log, err  string
	}{
		{name: "as it was read", log: "the rollout of StatefulSet team/main is not held any more"},
		{name: "another client is faster", conflicts: 3, log: "the rollout of StatefulSet team/main is not held any more"},
		{name: "another client is always faster", conflicts: 99, err: "restore the update strategy of StatefulSet team/main: other clients changed it in each of 10 attempts"},
		{name: "gone", gone: true},
		{name: "gone after a conflict", conflicts: 1, gone: true},
		{name: "no permission", code: http.StatusForbidden, err: "restore the update strategy of StatefulSet team/main: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			putHeld(s)
			kube := s.Client(t)
			patches := 0
			s.Refuse = func(method, _ string) int {
				if method != http.MethodPatch {
					return 0
				}
				patches++
				if row.gone {
					s.Remove(heldSet)
				}
				if patches <= row.conflicts {
					return http.StatusConflict
				}
				return row.code
			}
			var logged []string
			u := &Uninstaller{
				Kube: kube, Reader: &observe.Reader{Reader: kube}, Clock: clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
				Logf: func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) },
			}
			held, err := heldRollouts(t.Context(), kube)
			if err != nil {
				t.Fatal(err)
			}
			_, err = u.restoreRollouts(t.Context(), held)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if got := strings.Join(logged, "\n"); got != row.log {
				t.Errorf("logged is %q, want %q", got, row.log)
			}
			if row.log != "" {
				wantRestored(t, s)
			}
		})
	}
}

// wantRestored wants the author's strategy, without the record.
func wantRestored(t *testing.T, s *apitest.Server) {
	t.Helper()
	meta, _ := s.Get(heldSet)["metadata"].(apitest.Object)
	annotations, _ := meta["annotations"].(apitest.Object)
	spec, _ := s.Get(heldSet)["spec"].(apitest.Object)
	strategy, _ := spec["updateStrategy"].(apitest.Object)
	rolling, _ := strategy["rollingUpdate"].(apitest.Object)
	if len(annotations) != 1 || annotations["theirs"] != "stays" || rolling["partition"] == 3.0 || rolling["partition"] == 3 {
		t.Errorf("the StatefulSet has %v and %v", annotations, strategy)
	}
}
