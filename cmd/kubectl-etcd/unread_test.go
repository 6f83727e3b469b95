// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestUnread runs the program where nobody reads what it prints. What changes something
// comes to its own end, here that there is no API server; what only looks is ended.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		args   []string
		killed bool
	}{
		{name: "a change", args: []string{"cut-client-traffic", "main", "--for", "1m", "--reason", "drill", "-y"}},
		{name: "a change below another command", args: []string{"member", "remove", "main", "main-0", "-y"}},
		{name: "a file that is written", args: []string{"snapshot", "save", "main"}},
		{name: "a look", args: []string{"status", "main"}, killed: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := unread(t)
			cmd := exec.CommandContext(t.Context(), "kubectl-etcd", append(row.args, "--server", "http://127.0.0.1:1")...)
			cmd.Stdout, cmd.Stderr = w, w
			err := cmd.Run()
			status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if killed := status.Signaled() && status.Signal() == syscall.SIGPIPE; killed != row.killed || !killed && status.ExitStatus() != exitError {
				t.Errorf("%v, want it killed: %t", err, row.killed)
			}
		})
	}
}

// unread is a pipe that nobody reads any more.
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestPrintUnread prints the result of a change to nobody, which is no error.
func TestPrintUnread(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json", "name"} {
		cmd := &cobra.Command{}
		addOutputFlags(cmd)
		if err := cmd.Flags().Set("output", format); err != nil {
			t.Fatal(err)
		}
		e := newEnv(genericiooptions.IOStreams{Out: unread(t)})
		st := installed()
		if err := e.print(cmd, st, func(w io.Writer, _ bool) error { _, err := io.WriteString(w, "line\n"); return err }); err != nil {
			t.Errorf("-o %s: %v", format, err)
		}
	}
}

// TestChangesEndUnread goes through all commands that have the flags of a change.
func TestChangesEndUnread(t *testing.T) {
	t.Parallel()
	n := 0
	everyCommand(newRootCmd(newEnv(genericiooptions.IOStreams{})), func(c *cobra.Command) {
		if c.Flags().Lookup("dry-run") == nil {
			return
		}
		n++
		if c.PreRun == nil {
			t.Errorf("%s dies when nobody reads what it prints", c.CommandPath())
		}
	})
	if n < 10 {
		t.Errorf("only %d commands change something", n)
	}
}
