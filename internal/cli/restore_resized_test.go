// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestRestoreResized: an unfinished restore of an Etcd is not continued with the replicas that another client has set
// since, and the refusal names the change. It can be undone.
func TestRestoreResized(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int64{0, 5} {
		w := newWorld(t, verb{args: "ETCDUTL", set: (*world).druid})
		etcd := w.Get(operatetest.Path("Etcd", "main"))
		spec := operatetest.Field(etcd, "spec")
		spec["replicas"] = replicas
		spec["backup"] = apitest.Object{"store": apitest.Object{"provider": "S3", "container": "bucket", "prefix": "main"}}
		w.Create(apitest.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "main-config"}, "data": apitest.Object{
			"etcd.conf.yaml": "initial-cluster: main-0=http://main-0:2380,main-1=http://main-1:2380,main-2=http://main-2:2380\n",
		}})
		w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"revision":1,"bump":1000000000,"answers":true,"led":true,"done":1,"firstStop":5,"order":["","made","probed","suspended","saved","stopped","stored","removed","","started","","","let in"]}`, sha256.Sum256(w.Etcd.Database)))
		code := w.run(t.Context(), verb{path: "snapshot restore", args: "SNAPSHOT etcd/main --tool ETCDUTL"}, "--dry-run=client")
		if want := fmt.Sprintf("its spec.replicas was 3 when the restore began, and is %d now", replicas); code != 2 || !strings.Contains(w.err.String(), want) {
			t.Errorf("%d replicas: exit code %d, want %q:\n%s", replicas, code, want, &w.err)
		}
		w.err.Reset()
		if code := w.run(t.Context(), verb{path: "snapshot restore", args: "etcd/main --abort"}, "--dry-run=client"); code != 0 {
			t.Errorf("%d replicas, --abort: exit code %d:\n%s", replicas, code, &w.err)
		}
	}
}
