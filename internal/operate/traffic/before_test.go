// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestLeave: a cut from before an operation has its own end again. A cut that was not there, or whose end
// has passed, ends.
//
//nolint:gocyclo // one check a state
func TestLeave(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		// found is the end of the user's cut from now, 0 for none, and took is how long the operation took.
		found, took time.Duration
		// stays is whether the user's cut is in force afterwards.
		stays bool
	}{
		{name: "no cut", took: time.Minute},
		{name: "a cut that lasts longer", found: time.Hour, took: time.Minute, stays: true},
		{name: "a cut whose end has passed meanwhile", found: time.Hour, took: 90 * time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			world := operatetest.NewCluster(t)
			s.cluster.Kube = world.Client(t)
			s.cluster.Reader = &observe.Reader{Reader: s.cluster.Kube}
			began := s.clock.Time
			service := func(value string) {
				selector := apitest.Object{"app": "main"}
				if value != "" {
					selector[v1alpha1.ClientTrafficKey] = value
				}
				operatetest.Field(world.Get(operatetest.Path("Service", "main")), "spec")["selector"] = selector
			}
			held := s.lock(t)
			theirs := began.Add(row.found)
			if row.found > 0 {
				service(observe.CutValue(theirs))
				if err := WriteRecord(t.Context(), held, &Record{Services: []string{"main"}, Until: theirs, Holder: "bob", Reason: "migration"}); err != nil {
					t.Fatal(err)
				}
			}
			before, err := FindBefore(t.Context(), s.cluster.Kube, s.cluster.Reader, s.cluster.Owner, began)
			if err != nil || (len(before.Ends) > 0) != (row.found > 0) || row.found > 0 && (before.Record == nil || !before.Until().Equal(theirs)) {
				t.Fatalf("found %+v, %v", before, err)
			}
			service(observe.CutValue(began.Add(2 * time.Hour))) // the operation's own
			if err := WriteRecord(t.Context(), held, &Record{Holder: "ann"}); err != nil {
				t.Fatal(err)
			}
			s.clock.Time = began.Add(row.took)
			if err := s.cluster.Leave(t.Context(), held, before); err != nil {
				t.Fatal(err)
			}
			want := ""
			if row.stays {
				want = observe.CutValue(theirs)
			}
			if got, _ := operatetest.Field(world.Get(operatetest.Path("Service", "main")), "spec", "selector")[v1alpha1.ClientTrafficKey].(string); got != want {
				t.Errorf("the selector has %q, want %q", got, want)
			}
			record, err := recordOf(t.Context(), s.cluster.Kube, s.cluster.Owner)
			if err != nil || (record != nil) != row.stays || row.stays && record.Holder != "bob" {
				t.Errorf("the record is %+v, %v", record, err)
			}
		})
	}
}
