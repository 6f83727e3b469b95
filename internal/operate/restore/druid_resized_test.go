// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// TestDruidResized: an unfinished restore of an Etcd whose replicas another client has changed since is not continued with
// another number of members, unless etcd-druid adds them to the first one anyway.
func TestDruidResized(t *testing.T) {
	t.Parallel()
	at := func(id string) int {
		return slices.IndexFunc(druidRestore().steps(), func(s step.Step) bool { return s.ID == id })
	}
	const set = `kubectl -n team patch etcd/main --type merge -p '{"spec":{"replicas":`
	for _, row := range []struct {
		name      string
		has       int64
		done      int
		unstopped bool
		suspended bool
		members   int
		want      string
	}{
		{name: "as it was", has: 3, done: at(removed), suspended: true, members: 3},
		{name: "more, before it stopped members", has: 5, done: at(stopped), unstopped: true, want: "its spec.replicas was 3 when the restore began, and is 5 now. It has stopped no member. End it, "},
		{name: "hibernated, before it stopped members", has: 0, done: 1, unstopped: true, want: "snapshot restore etcd/main --abort"},
		{name: "more, after it stopped them", has: 5, done: at(removed), suspended: true, want: "Set it back: " + set + "0}}'; " + set + "3}}'. Then run the same command again"},
		{name: "more, and not suspended any more", has: 5, done: at(removed), want: "annotate --overwrite etcd/main " + traffic.SuspendAnnotation + "=; " + set + "0}}'"},
		{name: "hibernated, after it stopped them", has: 0, done: at(removed), suspended: true, want: "Set it back: " + set + "3}}'. Then"},
		{name: "hibernated, after etcd-druid went on", has: 0, done: at(started) + 2, want: "Set it back: " + set + "3}}'. Then"},
		{name: "more, after the first member started", has: 5, done: at(started) + 1, suspended: true, members: 5},
		{name: "more, after etcd-druid went on", has: 5, done: at(started) + 2, members: 5},
	} {
		s := apitest.New(t)
		meta := apitest.Object{"namespace": "team", "name": "main"}
		if row.suspended {
			meta["annotations"] = apitest.Object{traffic.SuspendAnnotation: ""}
		}
		s.Put("/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/main", apitest.Object{
			"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "metadata": meta, "spec": apitest.Object{"replicas": row.has},
		})
		r := druidRestore()
		r.Unstopped = row.unstopped
		err := r.FollowReplicas(t.Context(), &progress.Record{Size: 3, Done: row.done}, s.Client(t))
		if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) || err == nil && len(r.Members) != row.members {
			t.Errorf("%s: %d members, %v, want %q", row.name, len(r.Members), err, row.want)
		}
	}
	plain := plainRestore()
	if err := plain.FollowReplicas(t.Context(), &progress.Record{Size: 1}, nil); err != nil {
		t.Errorf("a StatefulSet: %v", err)
	}
}

// TestDruidSizeRecorded: a restore that continues or is undone has the number of members of its record, whatever the Etcd
// has now: an undoing must be possible, and for the rest FollowReplicas judges it.
func TestDruidSizeRecorded(t *testing.T) {
	t.Parallel()
	for _, has := range []int64{0, 5} {
		s := apitest.New(t)
		s.Put("/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/main", apitest.Object{
			"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "metadata": apitest.Object{"namespace": "team", "name": "main"}, "spec": apitest.Object{"replicas": has},
		})
		for _, recorded := range []bool{false, true} {
			r := druidRestore()
			r.recorded = recorded
			if size, err := r.druidSize(t.Context(), s.Client(t), 3); (err == nil && size == 3) != recorded {
				t.Errorf("%d replicas, recorded %t: %d, %v", has, recorded, size, err)
			}
		}
	}
}
