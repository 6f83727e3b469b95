// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestFollowAwaited: a restore of which only a scale is left does none of its own steps again, and runs that scale with
// the number of its journal. If the scale fails, the error has its command.
func TestFollowAwaited(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 1}
	server := operatetest.NewCluster(t)
	server.Create(apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
		"data": apitest.Object{"journal.json": `{"kind":"snapshot restore","object":"sts","scaleTo":3,"payload":{"sha256":"` + strings.Repeat("00", 32) + `","at":"2026-01-01T00:00:00Z","size":3,"done":99}}`},
	})
	kube := server.Client(t)
	for _, fail := range []error{nil, errors.New("exit status 2")} {
		rec, err := progress.Read(t.Context(), kube, o)
		if err != nil {
			t.Fatal(err)
		}
		var ran [][]string
		task := &task{app: app.New(genericiooptions.NewTestIOStreamsDiscard()), cluster: &app.Cluster{Owner: o, Kube: kube}}
		task.job = &progress.Job{Clients: step.Clients{Plugin: func(_ context.Context, args []string) error {
			ran = append(ran, args)
			return fail
		}}}
		task.operation()
		before := len(server.Writes())
		if _, err := task.resume(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		task.run.Current = rec
		if err := task.act(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		err = task.follow(t.Context(), app.NewLimit(time.Hour, ""))
		if len(ran) != 1 || !slices.Equal(ran[0], []string{"scale", "statefulset/main", "--replicas", "3", "-y"}) {
			t.Errorf("it ran %q", ran)
		}
		if (err == nil) != (fail == nil) || err != nil && !strings.Contains(err.Error(), "then run kubectl etcd") {
			t.Errorf("%v", err)
		}
		if writes := server.Writes()[before:]; len(writes) > 0 {
			t.Errorf("it wrote %q", writes)
		}
	}
}
