// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestPlugin: another command that is a part of a restore has the rest of its time, and its reason.
func TestPlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, typed := filepath.Join(dir, "self"), filepath.Join(dir, "typed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '[%s]' \"$@\" >"+typed+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		limit  time.Duration
		reason string
		want   string
	}{
		{0, "", "[--timeout=0s]"},
		{time.Hour, "two disks are 'gone'", "[--timeout=1h0m0s][--reason=two disks are 'gone']"},
		{time.Nanosecond, "", "[--timeout=1s]"},
	} {
		task := &task{
			app: app.New(genericiooptions.NewTestIOStreamsDiscard()), self: script, limit: app.NewLimit(row.limit, ""),
			plan: restore.Plan{Flags: step.Flags{Kubectl: "-n team"}}, Options: Options{Flags: change.Flags{Reason: row.reason}},
		}
		if err := task.plugin(t.Context(), []string{"scale", "statefulset/main", "--replicas", "5", "-y"}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(typed)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(string(text), "[-n][team][scale][statefulset/main][--replicas][5][-y]"); got != row.want {
			t.Errorf("limit %s, reason %q: %s, want %s at the end", row.limit, row.reason, got, row.want)
		}
	}
}
