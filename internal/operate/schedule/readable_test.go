// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestReadableWithoutSchedule: the printed pair of commands verifies the snapshot that its first one has saved, and
// never one that was there before.
func TestReadableWithoutSchedule(t *testing.T) {
	t.Parallel()
	c := operatetest.NewCluster(t)
	_, err := Readable(t.Context(), c.Client(t), owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"})
	const want = "kubectl etcd snapshot save statefulset/main team-main.db -n team && kubectl etcd snapshot verify team-main.db --restore"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
