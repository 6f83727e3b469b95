// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// goCommand runs the go command in a module's folder, in an environment where
// nothing but the module, the arguments and the Go version decides the outcome.
//
// The build must not outlive this process, even if that is killed: the kernel
// then interrupts it. It does so when the thread that started the command ends,
// hence the locked thread.
func goCommand(ctx context.Context, dir string, stdout, stderr io.Writer, args ...string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the table of groups makes the arguments
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stdout, stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off", "GOFLAGS=-mod=readonly", "GO111MODULE=on")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("building needs the go command, see https://go.dev/doc/install: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
