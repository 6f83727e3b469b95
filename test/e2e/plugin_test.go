// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
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
	r := &running{cmd: pluginCommand(t, args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// pluginCommand is the plugin with the testbed's programs, not yet started.
func pluginCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := pluginPath()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	tools := filepath.Join(bed.Dir(), "bin") + string(os.PathListSeparator) + scripttest.PathWithout("kubectl-etcd")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+tools)
	return cmd
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

// awaitOutput waits until the plugin has printed a text to stderr.
func (r *running) awaitOutput(t *testing.T, texts string) {
	t.Helper()
	eventually(t, "the plugin to print "+texts, func(context.Context) (string, bool, error) {
		printed := r.stderr.String()
		return printed, strings.Contains(printed, texts), nil
	})
}

// plugin runs the plugin to its end and holds it to an exit code. Where that is another
// one, it runs it again, as a person would, if that can't hide anything: see mayRepeat.
func plugin(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	return prints(t, code, nil, args...)
}

// refuses is plugin for a command that the plugin refuses with these texts. It retries while
// the plugin refuses for another reason, as it may while a member is slow.
func refuses(t *testing.T, texts []string, args ...string) (stderr string) {
	t.Helper()
	_, stderr = prints(t, 2, texts, args...)
	return stderr
}

// prints is plugin for a command that prints these texts on either stream. A command that
// changes nothing, or was refused, is repeated until it prints them.
func prints(t *testing.T, code int, texts []string, args ...string) (stdout, stderr string) {
	t.Helper()
	before := ""
	eventually(t, "kubectl etcd "+strings.Join(args, " "), func(context.Context) (string, bool, error) {
		r := startPlugin(t, args...)
		got := r.wait(t)
		stdout, stderr = r.stdout.String(), before+r.stderr.String()
		if got == code && lacking(stdout+stderr, texts) == "" {
			return "", true, nil
		}
		printed := fmt.Sprintf("exit code %d, want %d", got, code)
		if missing := lacking(stdout+stderr, texts); missing != "" {
			printed += fmt.Sprintf(", and %q", missing)
		}
		printed += "\n" + stdout + stderr
		if !mayRepeat(got, stderr, args) {
			t.Fatalf("kubectl etcd %s: %s", strings.Join(args, " "), printed)
		}
		if args[0] == "scale" || args[0] == "member" {
			before = stderr // it goes on with what it has begun
		}
		return printed, false, nil
	})
	return stdout, stderr
}

// lacking returns the first of the texts that a text lacks. It is empty if there is none.
func lacking(text string, texts []string) string {
	for _, w := range texts {
		if !strings.Contains(text, w) {
			return w
		}
	}
	return ""
}

// looking are the commands that change nothing.
var looking = []string{"__complete", "list", "status", "check", "version", "alarm list", "member list", "snapshot list", "webhook status", "proxy"}

// mayRepeat reports whether a command that ended so is to be tried again: when it changed
// nothing, which is so of those that look and of those that a rule refused, or when it
// awaitOutput itself that only time was lacking. Every command may be run again.
func mayRepeat(code int, stderr string, args []string) bool {
	line := strings.Join(args, " ")
	looks := slices.ContainsFunc(looking, func(c string) bool { return line == c || strings.HasPrefix(line, c+" ") })
	return looks || strings.Contains(line, "--dry-run") || code == 2 || code != 0 && clusters.Transient(stderr)
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
