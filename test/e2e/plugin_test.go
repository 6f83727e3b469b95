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

// pluginPath returns the path of the plugin, built from this checkout.
var pluginPath = sync.OnceValues(func() (string, error) {
	const name = "kubectl-etcd"
	paths, err := programs.Ensure(context.Background(), programs.Cache{}, []string{name}, io.Discard)
	return paths[name], err
})

// running is a running plugin. Its output can be read at any time.
type running struct {
	cmd    *exec.Cmd
	stdout safeBuffer
	stderr safeBuffer
	// ended is closed when the plugin has ended, with err.
	ended chan struct{}
	err   error
}

// startPlugin starts the plugin on the testbed without a terminal. The end of the test kills it.
func startPlugin(t *testing.T, args ...string) *running {
	t.Helper()
	return startRunning(t, pluginCommand(t, args...))
}

// startRunning starts a command of the plugin without a terminal.
func startRunning(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd: cmd}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.started()
	return r
}

// started waits for the end of the command in the background.
func (r *running) started() {
	r.ended = make(chan struct{})
	go func() {
		defer close(r.ended)
		r.err = r.cmd.Wait()
	}()
}

// startPluginUntil starts the plugin and waits until it has printed a text to stderr. It starts it again where it was
// refused: the log of a member without data doesn't show that while its container starts again.
func startPluginUntil(t *testing.T, text string, args ...string) *running {
	t.Helper()
	r := startPlugin(t, args...)
	eventually(t, "the plugin to print "+text, func(context.Context) (string, bool, error) {
		printed := r.stderr.String()
		if strings.Contains(printed, text) {
			return "", true, nil
		}
		select {
		case <-r.ended:
			if code := r.wait(t); code != 2 {
				return "", false, fmt.Errorf("exit code %d:\n%s", code, printed)
			}
			r = startPlugin(t, args...)
		default:
		}
		return printed, false, nil
	})
	return r
}

// pluginCommand returns the command for the plugin with the testbed's programs in its PATH. It
// doesn't start the command.
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

// wait returns the plugin's exit code, or -1 if a signal ended it.
func (r *running) wait(t *testing.T) int {
	t.Helper()
	<-r.ended
	if _, exited := errors.AsType[*exec.ExitError](r.err); r.err != nil && !exited {
		t.Fatal(r.err)
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

// plugin runs the plugin and requires an exit code. If the exit code differs and mayRepeat
// allows it, plugin runs the command again, as a user would.
func plugin(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	return prints(t, code, nil, args...)
}

// refuses is plugin for a command that the plugin refuses with these texts. It retries while the
// plugin refuses for another reason, which can happen while a member is slow.
func refuses(t *testing.T, texts []string, args ...string) (stderr string) {
	t.Helper()
	_, stderr = prints(t, 2, texts, args...)
	return stderr
}

// prints is plugin for a command that prints these texts on either stream. It repeats a command
// that changed nothing or was refused until it prints them.
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
			printed += fmt.Sprintf(", without %q", missing)
		}
		printed += "\n" + stdout + stderr
		if !mayRepeat(got, stderr, args) {
			t.Fatalf("kubectl etcd %s: %s", strings.Join(args, " "), printed)
		}
		if args[0] == "scale" || args[0] == "member" {
			before = stderr // the next run continues this one
		}
		return printed, false, nil
	})
	return stdout, stderr
}

// lacking returns the first of the texts that text doesn't contain. It is empty if there is
// none.
func lacking(text string, texts []string) string {
	for _, w := range texts {
		if !strings.Contains(text, w) {
			return w
		}
	}
	return ""
}

// readOnly lists the commands that change nothing.
var readOnly = []string{"__complete", "list", "status", "check", "version", "alarm list", "member list", "snapshot list", "webhook status", "proxy"}

// mayRepeat reports whether the test may run the command again. This is true for a command that
// changes nothing, for a command that a rule refused, and for a command that reports a transient
// error. The plugin allows a user to repeat every command.
func mayRepeat(code int, stderr string, args []string) bool {
	line := strings.Join(args, " ")
	reads := slices.ContainsFunc(readOnly, func(c string) bool { return line == c || strings.HasPrefix(line, c+" ") })
	return reads || strings.Contains(line, "--dry-run") || code == 2 || code != 0 && clusters.Transient(stderr)
}

// safeBuffer is a buffer that can be read and written concurrently.
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
