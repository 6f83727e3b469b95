// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"
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
