// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

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

// plugin runs another command of this plugin that changes something, with the same flags for the API server and etcd.
// It is a part of the change: it has what is left of its time, and its reason.
func (t *task) plugin(ctx context.Context, args []string) error {
	self := t.self
	if self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return err
		}
	}
	typed := strings.TrimPrefix(step.Plugin{Args: slices.Concat(args, t.passedOn(ctx))}.Command(t.plan.Flags), "kubectl etcd ")
	cmd := exec.CommandContext(ctx, "sh", "-c", format.Quote(self)+" "+typed) //nolint:gosec // the arguments are quoted
	cmd.Stdout, cmd.Stderr = t.app.ErrOut, t.app.ErrOut
	return cmd.Run()
}

// passedOn returns the flags of the change for another command that is a part of it.
func (t *task) passedOn(ctx context.Context) []string {
	within, cancel := t.limit.Context(ctx)
	defer cancel()
	left := time.Duration(0) // no limit
	if deadline, limited := within.Deadline(); limited {
		left = max(time.Until(deadline).Round(time.Second), time.Second)
	}
	flags := []string{"--timeout=" + left.String()}
	if t.Reason != "" {
		flags = append(flags, "--reason="+t.Reason)
	}
	return flags
}
