// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestReadUnderWay: an unfinished operation is found whatever manages the members now.
func TestReadUnderWay(t *testing.T) {
	t.Parallel()
	sts := owner.Owner{WorkloadKind: owner.StatefulSet, APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}
	druid, bitnami, spanning := sts, sts, sts
	druid.WorkloadKind, druid.Distribution, druid.Kind = owner.DruidStatefulSet, flavour.Druid, "Etcd"
	bitnami.Distribution = flavour.Bitnami
	spanning.Workloads = []owner.Workload{{Name: "main", Replicas: 1}, {Name: "other", Replicas: 1}}
	for name, o := range map[string]owner.Owner{"plain": sts, "druid": druid, "Bitnami": bitnami, "several StatefulSets": spanning} {
		for text, isChange := range map[string]bool{
			`{"kind":"restart","object":"sts","payload":{"strategy":"rolling"}}`:                                 false,
			`{"kind":"snapshot restore","object":"sts","payload":{}}`:                                            false,
			`{"kind":"scale","object":"sts","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`:         true,
			`{"kind":"member replace","object":"sts","payload":{"Operation":"Replace","Target":3,"Replicas":3}}`: true,
		} {
			c := operatetest.NewCluster(t)
			c.Create(apitest.Object{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
				"data": apitest.Object{"journal.json": text},
			})
			u, err := ReadUnderWay(t.Context(), c.Client(t), o)
			if err != nil || (u.Change != nil) != isChange || (u.Other != nil) == isChange {
				t.Errorf("%s, %s: %+v, %v", name, text, u, err)
			}
			if !isChange || err != nil {
				continue
			}
			want := []string{u.Change.Resume(o), u.Change.Abort(o)}
			if name != "plain" {
				want = want[1:]
			}
			if got := u.Change.Commands(o); !slices.Equal(got, want) {
				t.Errorf("%s: commands are %q, want %q", name, got, want)
			}
		}
	}
}

// TestCommandsOfRestart: a coordinated restart is continued by its strategy's name, as the command demands.
func TestCommandsOfRestart(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}
	const command = "kubectl etcd restart statefulset/main"
	for payload, want := range map[string]string{
		`{"strategy":"rolling"}`:     command,
		`{"strategy":"coordinated"}`: command + " --strategy coordinated",
	} {
		resume, abort := CommandsOf(o, &journal.Journal{Kind: journal.KindRestart, Payload: []byte(payload)})
		if resume != want || abort != command+" --abort" {
			t.Errorf("%s: %q and %q, want %q", payload, resume, abort, want)
		}
	}
}
