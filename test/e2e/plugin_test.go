// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// pluginPath is the plugin of this checkout.
var pluginPath = sync.OnceValues(func() (string, error) {
	const name = "kubectl-etcd"
	paths, err := programs.Ensure(context.Background(), programs.Cache{}, []string{name}, io.Discard)
	return paths[name], err
})

// running is the plugin at work. What it prints can be read at any time.
type running struct {
	cmd    *exec.Cmd
	stdout safeBuffer
	stderr safeBuffer
}

// startPlugin runs the plugin against the testbed, without a terminal. It is killed
// with the test.
func startPlugin(t *testing.T, args ...string) *running {
	t.Helper()
	path, err := pluginPath()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{cmd: exec.CommandContext(t.Context(), path, args...)}
	tools := filepath.Join(bed.Dir(), "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	r.cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+tools)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// wait returns the plugin's exit code, -1 when a signal ended it.
func (r *running) wait(t *testing.T) int {
	t.Helper()
	err := r.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return r.cmd.ProcessState.ExitCode()
}

// says waits until the plugin has told people something.
func (r *running) says(t *testing.T, words string) {
	t.Helper()
	eventually(t, "the plugin to say "+words, func(context.Context) (string, bool, error) {
		said := r.stderr.String()
		return said, strings.Contains(said, words), nil
	})
}

// plugin runs the plugin to its end and holds it to an exit code.
func plugin(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	r := startPlugin(t, args...)
	if got := r.wait(t); got != code {
		t.Fatalf("kubectl etcd %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &r.stdout, &r.stderr)
	}
	return r.stdout.String(), r.stderr.String()
}

// safeBuffer may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
