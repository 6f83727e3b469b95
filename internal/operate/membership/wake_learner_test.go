// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	corev1 "k8s.io/api/core/v1"
)

// TestWakeLearner: only for a learner whose pod runs, in a cluster of many entries, the leader commits an entry,
// at most once per interval.
func TestWakeLearner(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		many    bool
		phase   corev1.PodPhase
		calls   int
		entries int
	}{
		{"it runs", true, corev1.PodRunning, 1, 1},
		{"it is observed twice", true, corev1.PodRunning, 2, 1},
		{"it is pending", true, corev1.PodPending, 1, 0},
		{"it has no pod", true, "", 1, 0},
		{"the cluster has few entries", false, corev1.PodRunning, 1, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, func(w *writing) {
				w.Etcd.Lag(row.many)
				w.Etcd.Members = append(w.Etcd.Members, &pb.Member{ID: 9, PeerURLs: []string{newURL}, IsLearner: true})
			})
			if row.phase != "" {
				w.s.pods["main-3"] = &corev1.Pod{Status: corev1.PodStatus{Phase: row.phase}}
			}
			for range row.calls {
				w.m.wakeLearner(t.Context(), w.s)
			}
			if got := len(slices.DeleteFunc(w.Etcd.Writes(), func(call string) bool { return call != "grant a lease of 1s" })); got != row.entries {
				t.Errorf("%d entries, want %d", got, row.entries)
			}
		})
	}
}
