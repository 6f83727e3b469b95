// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFatalMessageIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"level":"fatal","caller":"etcdmain/etcd.go:197","msg":"discovery failed","error":"member 8e9e05c52164694d has already been bootstrapped"}`: "has already been bootstrapped",
		`{"level":"panic","msg":"tocommit(7) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?"}`:                      "tocommit(7) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?",
		"2026-11-20 12:17:50.123456 C | etcdmain: member 8e9e05c52164694d has already been bootstrapped":                                             "has already been bootstrapped",
		"2026-11-20 12:17:50.123456 I | etcdmain: member 8e9e05c52164694d has already been bootstrapped":                                             "",
		`{"level":"info","msg":"has already been bootstrapped"}`:                                                                                     "",
		`{"level":"fatal","msg":"failed to open WAL","error":"open /data/member/wal/0-0.wal: permission denied"}`:                                    "",
		`{"level":"fatal","msg":"failed to open WAL","error":"open /data/0.wal: no more; wal: file not found"}`:                                      "wal: file not found",
		`{"level":"fatal","msg":"address already in use"}`:                                                                                           "",
		"": "",
	} {
		if got := fatalMessageIn(text + "\n"); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestFatalLog: the end of an earlier container shows nothing of one that has run since.
func TestFatalLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const fatal = `{"level":"fatal","error":"member 8e9e05c52164694d has already been bootstrapped"}`
	runs := func(since time.Duration) corev1.ContainerState {
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-since))}}
	}
	for name, row := range map[string]struct {
		state corev1.ContainerState
		want  string
	}{
		"waits":               {corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}, "has already been bootstrapped"},
		"has started again":   {runs(10 * time.Second), "has already been bootstrapped"},
		"has run for an hour": {runs(time.Hour), ""},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", State: row.state}}}}
		logs := func(_ context.Context, _, _ string, previous bool) (string, error) {
			if previous {
				return fatal, nil
			}
			return "", nil
		}
		if got, err := FatalLog(t.Context(), logs, pod, "etcd", now); err != nil || got != row.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, row.want)
		}
	}
}
