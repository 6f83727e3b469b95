// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

func TestProbeFailsOnLearner(t *testing.T) {
	t.Parallel()
	get := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}}
	}
	run := func(command ...string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}}
	}
	for _, c := range []struct {
		name    string
		probe   *corev1.Probe
		version string
		want    bool
	}{
		{"none", nil, "3.7.3", false},
		{"readyz", get("/readyz"), "3.7.3", true},
		{"readyz of 3.6", get("/readyz"), "3.6.0", true},
		{"readyz of 3.5, new", get("/readyz"), "3.5.19", true},
		{"readyz of 3.5, old", get("/readyz"), "3.5.18", false},
		{"readyz of 3.4", get("/readyz"), "3.4.45", false},
		{"readyz without that check", get("/readyz?exclude=non_learner"), "3.7.3", false},
		{"health of 3.4", get("/health"), "3.4.45", true},
		{"health of 3.5", get("/health"), "3.5.27", false},
		{"health of 3.4, of itself alone", get("/health?serializable=true"), "3.4.45", false},
		{"livez", get("/livez"), "3.7.3", false},
		{"etcdctl", run("/bin/sh", "-c", "etcdctl endpoint health"), "3.5.0", true},
		{"a script", run("/healthcheck.sh"), "3.7.3", false},
		{"a port", &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}, "3.7.3", false},
	} {
		// The oldest version counts.
		how, kept := probeFailsOnLearner(c.probe, []etcd.Member{{Version: "3.9.9"}, {Version: c.version}})
		if kept != c.want || how == "" {
			t.Errorf("%s: kept out %t (%s), want %t", c.name, kept, how, c.want)
		}
	}
}

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
