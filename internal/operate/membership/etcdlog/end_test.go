// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdlog

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEndOf has a row per format of etcd's log, and per line that only looks like the end of etcd.
func TestEndOf(t *testing.T) {
	t.Parallel()
	const bootstrapped = "has already been bootstrapped"
	const mismatch = `{"level":"warn","msg":"request sent was ignored by remote peer due to cluster ID mismatch","error":"cluster ID mismatch"}`
	for text, want := range map[string]string{
		`{"level":"fatal","caller":"etcdmain/etcd.go:197","msg":"discovery failed","error":"member 8e9e05c52164694d has already been bootstrapped"}`: bootstrapped,
		`{"level":"panic","msg":"tocommit(7) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?"}`:                      "tocommit(7) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?",
		"panic: freepages: failed to get all reachable pages (page 2: multiple references)\n\ngoroutine 1 [running]:\nmain.main()":                   "freepages: failed to get all reachable pages (page 2: multiple references)",
		"2026-11-20 12:17:50.123456 C | etcdmain: member 8e9e05c52164694d has already been bootstrapped":                                             bootstrapped,
		"2026-11-20 12:17:50.123456 E | etcdserver: the member has been permanently removed from the cluster":                                        "permanently removed from the cluster",
		"2026-11-20 12:17:50.123456 I | etcdmain: member 8e9e05c52164694d has already been bootstrapped":                                             "",
		"backup E | etcdmain: member 8e9e05c52164694d has already been bootstrapped":                                                                 "",
		`{"level":"info","msg":"has already been bootstrapped"}`:                                                                                     "",
		// Its level is warn, and it is the end of etcd all the same.
		`{"level":"warn","msg":"server error","error":"the member has been permanently removed from the cluster"}` + "\n" +
			`{"level":"warn","msg":"data-dir used by this member must be removed"}` + "\n" + `{"level":"info","msg":"stopped"}`: "permanently removed from the cluster",
		// etcd 3.7 ends with the consequences.
		`{"level":"warn","msg":"server error","error":"the member has been permanently removed from the cluster"}` + "\n" +
			`{"level":"error","msg":"setting up serving from embedded etcd failed.","error":"server is stopping"}` + "\n" +
			`{"level":"fatal","msg":"listener failed","error":"server is stopping"}`: "permanently removed from the cluster",
		`{"level":"fatal","msg":"listener failed","error":"server is stopping"}`: "",
		// Lines with an error that etcd survives, of whatever text.
		mismatch: "",
		`{"level":"warn","msg":"failed to reach the peer URL","error":"snap: timeout"}`:                                                    "",
		`{"level":"info","msg":"a \"fatal\" word","error":"cluster ID mismatch"}`:                                                          "",
		`wait: {"level":"fatal","msg":"member 1 has already been bootstrapped"}`:                                                           "",
		`time="2026-11-20T12:17:50Z" level=error msg="crc mismatch" "error"`:                                                               "",
		`{"level":"fatal","msg":"failed to open WAL","error":"open /data/member/wal/0-0.wal: permission denied"}`:                          "",
		`{"level":"fatal","msg":"failed to open WAL","error":"open /data/0.wal: no more; wal: file not found"}`:                            "wal: file not found",
		`{"level":"fatal","msg":"address already in use"}`:                                                                                 "",
		`{"level":"error","msg":"x","error":"crc mismatch"}` + "\n" + `{"level":"fatal","msg":"address already in use"}`:                   "",
		`{"level":"fatal","msg":"address already in use"}` + "\n" + `{"level":"error","msg":"x","error":"crc mismatch"}` + "\n" + mismatch: "crc mismatch",
		"": "",
	} {
		if got := endOf(text + "\n").Fatal; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestLastLine: a line that proves nothing is shown as the last line.
func TestLastLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one\n two \n": "two",
		`{"level":"warn","msg":"failed","error":"cluster ID mismatch"}`: "warn: failed: cluster ID mismatch",
		`{"level":"info","msg":"ready"}`:                                "info: ready",
		strings.Repeat("x", 300):                                        strings.Repeat("x", 200) + "...",
		"":                                                              "",
	} {
		if got := endOf(text); got.Last != want || got.Fatal != "" {
			t.Errorf("%s: %+v, want %q", text, got, want)
		}
	}
}

// TestReadEnd: the end of an earlier container shows nothing of one that has run since.
func TestReadEnd(t *testing.T) {
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
		if got, err := ReadEnd(t.Context(), logs, pod, "etcd", now); err != nil || got.Fatal != row.want {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, row.want)
		}
	}
}
