// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// plugin runs this checkout's kubectl etcd as the testbed's administrator, and requires an exit
// code. If the exit code differs, it repeats a command that timed out or that changes nothing.
func plugin(tb testing.TB, code int, args ...string) (stdout, stderr string) {
	tb.Helper()
	eventually(tb, "kubectl etcd "+strings.Join(args, " "), func(context.Context) (string, bool, error) {
		cmd := pluginCommand(tb, args...)
		var out, texts bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &texts
		err := cmd.Run()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			tb.Fatal(err)
		}
		got := cmd.ProcessState.ExitCode()
		stdout, stderr = out.String(), texts.String()
		if got != code && got != 2 && args[1] != "status" && !clusters.Transient(stderr) {
			tb.Fatalf("kubectl etcd %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
		}
		return fmt.Sprintf("exit code %d, want %d\n%s%s", got, code, stdout, stderr), got == code, nil
	})
	return stdout, stderr
}

// killPlugin runs the plugin and kills it after it has printed a text.
func killPlugin(tb testing.TB, word string, args ...string) {
	tb.Helper()
	cmd := pluginCommand(tb, args...)
	texts, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	printed := bufio.NewScanner(texts)
	for found := false; !found; found = strings.Contains(printed.Text(), word) {
		if !printed.Scan() {
			tb.Errorf("kubectl etcd %s ended without printing %q", strings.Join(args, " "), word)
			break
		}
	}
	_ = cmd.Process.Kill() // the process may have ended
	_ = cmd.Wait()
}

func pluginCommand(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	const name = "kubectl-etcd"
	paths, err := programs.Ensure(tb.Context(), programs.Cache{}, []string{name}, io.Discard)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), paths[name], args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig())
	return cmd
}
