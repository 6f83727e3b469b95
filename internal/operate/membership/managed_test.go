// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestContinuesScale: a scale continues an unfinished one to the same size, and undoes any. Else it names the commands
// that end what is unfinished.
func TestContinuesScale(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}
	for _, row := range []struct {
		name     string
		of       membership.Record
		replicas int
		keep     bool
		abort    bool
		want     string
	}{
		{name: "the same size", of: membership.Record{Operation: membership.ScaleOut, Target: 5}, replicas: 5},
		{name: "another size", of: membership.Record{Operation: membership.ScaleOut, Target: 5}, replicas: 7, want: "a scale of StatefulSet team/main to 5 members has been unfinished since 0001-01-01T00:00:00Z: " +
			"continue it with kubectl etcd scale statefulset/main --replicas 5 -n team, or undo it with kubectl etcd scale statefulset/main --abort -n team"},
		{name: "claims that it deletes", of: membership.Record{Operation: membership.ScaleIn, Target: 3}, replicas: 3, keep: true, want: "began without --keep-pvc, so it deletes the claims of the members that it removes"},
		{name: "claims that it keeps", of: membership.Record{Operation: membership.ScaleIn, Target: 3, KeepClaims: true}, replicas: 3, keep: true},
		{name: "claims, undone", of: membership.Record{Operation: membership.ScaleIn, Target: 3}, replicas: 3, keep: true, abort: true},
		{name: "undo", of: membership.Record{Operation: membership.ScaleOut, Target: 5}, abort: true},
		{name: "one that is being undone", of: membership.Record{Operation: membership.ScaleOut, Target: 5, Undo: true}, replicas: 7},
		{name: "a replacement", of: membership.Record{Operation: membership.Replace, Target: 3, Ordinal: 1}, abort: true, want: "the replacement of main-1 has been unfinished since 0001-01-01T00:00:00Z: " +
			"continue it with kubectl etcd member replace statefulset/main main-1 -n team, or undo it with kubectl etcd member replace statefulset/main main-1 --abort -n team"},
	} {
		err := (&Change{Record: row.of}).ContinuesScale(o, row.replicas, row.keep, row.abort)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
