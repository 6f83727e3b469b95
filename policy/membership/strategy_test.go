// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"reflect"
	"testing"
)

// TestWriteStrategy: pods may restart by the strategy that an operation restores if they don't have the newest
// template. That write is marked, so that admission judges it. What admission holds counts as restored.
func TestWriteStrategy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		state    ClusterState
		onDelete bool
		want     Step
	}{
		{"as it was", ClusterState{AllUpdated: true}, false, Step{Act: Done}},
		{"all pods have the template", ClusterState{Partition: 3, AllUpdated: true}, false, Step{Act: RestoreStrategy}},
		{"a pod has not", ClusterState{Partition: 3, AllUpdated: true, Ordinals: []Replica{{UID: "a"}}}, false, Step{Act: RestoreStrategy, Releases: true}},
		{"the controller doesn't count all", ClusterState{Partition: 3}, false, Step{Act: RestoreStrategy, Releases: true}},
		{"held with another author's strategy", ClusterState{Partition: 3, Held: true, AuthorPartition: 2, AllUpdated: true}, false, Step{Act: RestoreStrategy, Releases: true}},
		{"held with another author's strategy, by the one as it was", ClusterState{Held: true, AuthorPartition: 2}, false, Step{Act: RestoreStrategy, Releases: true}},
		{"held with the strategy as it was", ClusterState{Partition: 3, Held: true}, false, Step{Act: Done}},
		{"held, and it was OnDelete", ClusterState{Partition: 3, Held: true}, true, Step{Act: RestoreStrategy, Releases: true}},
	} {
		if got := row.state.writeStrategy(Record{OnDelete: row.onDelete}); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
