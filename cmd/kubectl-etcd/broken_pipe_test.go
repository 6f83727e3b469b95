// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
)

// TestUnread runs the program where no one reads what it prints. A command that changes something
// runs to its end, here that there is no API server. A command that only reads is killed.
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
		{name: "a read", args: []string{"status", "main"}, killed: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := scripttest.BrokenPipe(t)
			cmd := exec.CommandContext(t.Context(), "kubectl-etcd", append(row.args, "--server", "http://127.0.0.1:1")...)
			cmd.Stdout, cmd.Stderr = w, w
			err := cmd.Run()
			status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if killed := status.Signaled() && status.Signal() == syscall.SIGPIPE; killed != row.killed || !killed && status.ExitStatus() != 1 {
				t.Errorf("%v, want it killed: %t", err, row.killed)
			}
		})
	}
}
