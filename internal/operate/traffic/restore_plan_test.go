// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestCutsShown: a restore ends the cuts that the user was shown. It may find fewer of them, but no other one.
func TestCutsShown(t *testing.T) {
	t.Parallel()
	shown := cuts{services: map[string]string{"a": "cut-until-1", "b": "cut-until-1"}, suspended: true}
	for _, row := range []struct {
		name string
		now  cuts
		want bool
	}{
		{"the same", shown, true},
		{"one has ended", cuts{services: map[string]string{"b": "cut-until-1"}, suspended: true}, true},
		{"all have ended", cuts{}, true},
		{"another Service", cuts{services: map[string]string{"c": "cut-until-1"}}, false},
		{"another end", cuts{services: map[string]string{"a": "cut-until-2"}}, false},
	} {
		if got := shown.has(row.now); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	if (cuts{}).has(cuts{suspended: true}) {
		t.Error("a suspension that was not shown")
	}
}

// TestJudgeRestoreAgain: the plan under the lock is the one that was shown while there is no other cut.
func TestJudgeRestoreAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	world := operatetest.NewCluster(t)
	s.cluster.Kube = world.Client(t)
	s.cluster.Reader = &observe.Reader{Reader: s.cluster.Kube}
	// cut writes the value of the cut into the selectors of two Services, empty for none.
	cut := func(values ...string) {
		for i, name := range []string{"main", "other"} {
			selector := apitest.Object{"app": "main"}
			if values[i] != "" {
				selector[v1alpha1.ClientTrafficKey] = values[i]
			}
			world.Create(apitest.Object{
				"apiVersion": "v1", "kind": "Service", "metadata": apitest.Object{"namespace": "team", "name": name},
				"spec": apitest.Object{"selector": selector, "clusterIP": "10.0.0.1", "ports": []any{apitest.Object{"port": 2379}}},
			})
		}
	}
	const ours, theirs = "cut-until-4000000000", "cut-until-4000000001"
	cut(ours, "")
	agreed, err := s.cluster.JudgeRestore(t.Context())
	if err != nil || agreed.Title == "" {
		t.Fatalf("%+v, %v", agreed, err)
	}
	for _, row := range []struct {
		main, other string
		want        bool
	}{
		{ours, "", true},
		{"", "", true},
		{"", theirs, false},
		{ours, theirs, false},
		{theirs, "", false},
		{ours, "", true},
	} {
		cut(row.main, row.other)
		if now, err := s.cluster.JudgeRestore(t.Context()); err != nil || now.Agreed(agreed) != row.want {
			t.Errorf("main %q, other %q: %+v, %v; want %t", row.main, row.other, now, err, row.want)
		}
	}
}
