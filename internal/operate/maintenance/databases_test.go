// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestPartition: a member on the smaller side of a partition is not healthy to the rules of maintenance.
func TestPartition(t *testing.T) {
	t.Parallel()
	s := etcd.Survey{Members: []etcd.Member{{Pod: "a", ID: 1, LeaderID: 1, Leader: true}, {Pod: "b", ID: 2, LeaderID: 3}, {Pod: "c", ID: 3, LeaderID: 3, Leader: true}, {Pod: "d", ID: 4}}}
	want := map[string]string{"a": "follows another leader than most members", "b": "", "c": "", "d": "follows no leader"}
	for _, d := range Databases(s) {
		if d.Trouble != want[d.Pod] {
			t.Errorf("%s: %q, want %q", d.Pod, d.Trouble, want[d.Pod])
		}
	}
}
