// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLogs: a crash with stacks that are longer than the end of a log is read with its message. Of any other log, only
// the end is read.
func TestLogs(t *testing.T) {
	t.Parallel()
	stacks := "fatal error: fault\n[signal SIGBUS: bus error code=0x2 addr=0x7f pc=0x8d]\n"
	for i := range 300 {
		stacks += fmt.Sprintf("\ngoroutine %d [select]:\nruntime.gopark(0x0)\n\t/go/src/runtime/proc.go:435 +0xce\n", i+1)
	}
	for name, row := range map[string]struct {
		log   string
		lines int
	}{
		"crash":    {stacks, strings.Count(stacks, "\n")},
		"no crash": {strings.Repeat(`{"level":"info","msg":"ready"}`+"\n", 300), 60},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lines := strings.SplitAfter(row.log, "\n")
			lines = lines[:len(lines)-1]
			tail, err := strconv.Atoi(r.URL.Query().Get("tailLines"))
			if err != nil || r.URL.Path != "/api/v1/namespaces/team/pods/main-0/log" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(strings.Join(lines[max(0, len(lines)-tail):], "")))
		}))
		t.Cleanup(server.Close)
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		a := New(streams)
		config := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(config, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		*a.Flags.KubeConfig, *a.Flags.APIServer = config, server.URL
		logs, err := a.Logs("team")
		if err != nil {
			t.Fatal(err)
		}
		text, err := logs(t.Context(), "main-0", "etcd", true)
		if err != nil || strings.Count(text, "\n") != row.lines || !strings.HasSuffix(row.log, text) {
			t.Errorf("%s: %d lines, want %d (%v)", name, strings.Count(text, "\n"), row.lines, err)
		}
	}
}
