// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestNextData: a member whose next pod looks for its data elsewhere is restarted by no strategy, and one whose data
// is only mounted at another path is.
func TestNextData(t *testing.T) {
	t.Parallel()
	const unknown = "not known where the next pod of main-0 looks for its data"
	for _, row := range []struct {
		name            string
		args            []string
		mount           apitest.Object
		claims          []any
		replicas        int32
		refused, warned string
	}{
		{name: "the same template"},
		{name: "another flag", args: []string{"--initial-cluster-state=new", "--initial-cluster-state=existing"}},
		{name: "another directory", args: []string{"--data-dir=/data", "--data-dir=/data/etcd-3.6"}, refused: "the data of main-0 would move from /data (/ of volume claim data-main-0) to /data/etcd-3.6 (/etcd-3.6 of volume claim data-main-0), and etcd would start without it"},
		{name: "the container's own file system", args: []string{"--data-dir=/data", "--data-dir=/var/etcd"}, refused: "to /var/etcd (the container's own file system), and"},
		{name: "another log", args: []string{"--initial-cluster-state=new", "--wal-dir=/data/wal"}, refused: "the write-ahead log of main-0 would move from /data/member/wal (/member/wal of volume claim data-main-0) to /data/wal (/wal of"},
		{name: "the same log, by its flag", args: []string{"--initial-cluster-state=new", "--wal-dir=/data/member/wal"}},
		{name: "another mount of the same directory", args: []string{"--data-dir=/data", "--data-dir=/d"}, mount: apitest.Object{"name": "data", "mountPath": "/d"}},
		{name: "another part of the volume", mount: apitest.Object{"name": "data", "mountPath": "/data", "subPath": "a"}, refused: "/a of volume claim data-main-0"},
		{name: "another volume", mount: apitest.Object{"name": "new", "mountPath": "/data"}, claims: []any{apitest.Object{"metadata": apitest.Object{"name": "new"}}}, refused: "/ of volume claim new-main-0"},
		{name: "a variable", args: []string{"--data-dir=/data", "--data-dir=$(DIR)"}, warned: unknown},
		{name: "a variable of the only member", replicas: 1, args: []string{"--data-dir=/data", "--data-dir=$(DIR)"}, refused: unknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newTogether(t)
			j := c.together(t)
			if row.replicas > 0 {
				j.Owner.Replicas = row.replicas
			}
			c.replaceArgs(row.args...)
			sts := c.Get(operatetest.Path("StatefulSet", "main"))
			if row.mount != nil {
				containers, _ := operatetest.Field(sts, "spec", "template", "spec")["containers"].([]any)
				container, _ := containers[0].(apitest.Object)
				container["volumeMounts"] = []any{row.mount}
			}
			if row.claims != nil {
				operatetest.Field(sts, "spec")["volumeClaimTemplates"] = row.claims
			}
			c.Put(operatetest.Path("StatefulSet", "main"), sts)
			for _, strategy := range []Strategy{Rolling, Coordinated} {
				r := &Record{Strategy: strategy}
				s, err := j.observe(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				f := &operate.Findings{}
				if err := j.checkPods(t.Context(), s, r, f); err != nil {
					t.Fatal(err)
				}
				refused, warned := row.refused, row.warned
				if strategy == Coordinated && warned != "" { // what isn't certain is a refusal
					refused, warned = strings.ToUpper(warned[:1])+warned[1:], ""
				}
				for got, want := range map[string]string{strings.Join(f.Refusals, "; "): refused, "warnings " + strings.Join(f.Warnings, "; "): warned} {
					if got = strings.TrimPrefix(got, "warnings "); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) || want == "" && got != "" {
						t.Errorf("%s: %q, want %q", strategy, got, want)
					}
				}
			}
		})
	}
}
