// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// program runs a program on this machine. What it prints goes to stderr, as all messages.
func (t *task) program(ctx context.Context, env, program []string) error {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...) //nolint:gosec // a plan names the tools of etcd and of object stores only
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", program[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// output runs a program on this machine, and returns what it prints to stdout.
func output(ctx context.Context, program []string) (string, error) {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...) //nolint:gosec // a plan names the tools of object stores only
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w: %s", program[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// plugin runs another command of this plugin, with the same flags for the API server and etcd.
func (t *task) plugin(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	typed := strings.TrimPrefix(step.Plugin{Args: args}.Command(t.plan.Flags), "kubectl etcd ")
	cmd := exec.CommandContext(ctx, "sh", "-c", format.Quote(self)+" "+typed) //nolint:gosec // the arguments are quoted
	cmd.Stdout, cmd.Stderr = t.app.ErrOut, t.app.ErrOut
	return cmd.Run()
}
