// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package step has the steps of a plan as data. Each action of a step prints the command
// that a person would type, and does the same with the Kubernetes clients. The package
// decides nothing: a plan has the actions of a step in their order.
package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Step is one step of a plan.
type Step struct {
	Title, Why string
	Acts       []Action
}

// Commands returns what a person types for a step: one command for each action.
func (s Step) Commands(f Flags) []string {
	var commands []string
	for _, a := range s.Acts {
		commands = append(commands, a.Command(f))
	}
	return commands
}

// Action is one action of a step. Command and Do have the same effect.
type Action interface {
	Command(f Flags) string
	Do(ctx context.Context, c Clients) error
}

// Clients are what actions act with.
type Clients struct {
	Kube      client.Client
	Namespace string
	Clock     clock.Clock
	// Exec runs a command in the only container of a pod. Nil for in is an empty input.
	Exec func(ctx context.Context, pod string, command []string, in io.Reader, out io.Writer) error
	// Run runs a program on this machine.
	Run func(ctx context.Context, env, program []string) error
	// Plugin runs a command of kubectl etcd for the same API server and the same user.
	Plugin func(ctx context.Context, args []string) error
}

// pollPeriod is the time between two reads of what is awaited.
const pollPeriod = time.Second

var errTimeout = errors.New("timed out")

// poll calls reached until it returns true. The error names what was awaited.
func (c Clients) poll(ctx context.Context, limit time.Duration, awaited string, reached func() (bool, error)) error {
	for end := c.Clock.Now().Add(limit); ; {
		ok, err := reached()
		if err != nil || ok {
			return err
		}
		if c.Clock.Now().After(end) {
			return fmt.Errorf("wait for %s: %w after %s", awaited, errTimeout, limit)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", awaited, context.Cause(ctx))
		case <-c.Clock.After(pollPeriod):
		}
	}
}

// plural returns the objects of a kind as kubectl takes them: pod/main-0 pod/main-1.
func plural(kind Kind, names []string) string {
	return string(kind) + "/" + strings.Join(names, " "+string(kind)+"/")
}
