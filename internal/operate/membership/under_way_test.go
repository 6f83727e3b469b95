// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
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
		got := CommandsOf(o, &journal.Journal{Kind: journal.KindRestart, Payload: []byte(payload)})
		if !slices.Equal(got, []string{want, command + " --abort"}) {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
}

// TestCommandsOfUndo: a restore that is being undone can't be continued, and one after which nothing undoes it is not
// shown as undoable.
func TestCommandsOfUndo(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}
	j := &journal.Journal{Kind: journal.KindRestore, Payload: []byte(`{"sha256":"ab12","file":"-","undo":true}`)}
	const command = "kubectl etcd snapshot restore statefulset/main --abort"
	if got := CommandsOf(o, j); !slices.Equal(got, []string{command}) || progress.SnapshotOf(j) != "" {
		t.Errorf("%q, %q", got, progress.SnapshotOf(j))
	}
	final := &journal.Journal{Kind: journal.KindRestore, Payload: []byte(`{"file":"main.db","final":true}`)}
	const resume = "kubectl etcd snapshot restore main.db statefulset/main"
	if got, ways := CommandsOf(o, final), WaysOf(o, final); !slices.Equal(got, []string{resume}) || ways != "continue it with "+resume+" -n team" {
		t.Errorf("%q, %q", got, ways)
	}
	unknown := &journal.Journal{Kind: journal.KindRestore, Payload: []byte(`{"sha256":"ab12"}`)}
	if ways := WaysOf(o, unknown); !strings.HasSuffix(ways, "--abort -n team; FILE is the snapshot with SHA-256 ab12") {
		t.Errorf("%q", ways)
	}
	if got, want := WaysOf(o, j), "it is being undone: continue that with "+command+" -n team"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
