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

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Step is one step of a plan.
type Step struct {
	// ID names the step in Uses of later ones, and among the steps that can be undone. It may be
	// empty.
	ID         string
	Title, Why string
	Acts       []Action
	// Uses are earlier steps whose result may be gone when another command continues the plan: files
	// on this machine, a cut that has ended. That command repeats them first.
	Uses []string
	// Final means that nothing undoes the plan once the step has begun.
	Final bool
	// After means that the step is a change of its own. It follows when the plan has ended.
	After bool
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
	// Output runs a program on this machine, and returns what it prints to stdout.
	Output func(ctx context.Context, program []string) (string, error)
	// Plugin runs a command of kubectl etcd for the same API server and the same user.
	Plugin func(ctx context.Context, args []string) error
	// Etcd is the cluster.
	Etcd Members
	// Warn prints a warning. It may be nil.
	Warn func(format string, args ...any)
}

// Members is an etcd cluster as actions use it, under the lock that the plan holds.
type Members interface {
	// Save saves a snapshot of a member to a file.
	Save(ctx context.Context, file string) error
	// CutTraffic keeps clients away for some time. For a cluster that is cut, it moves the end.
	CutTraffic(ctx context.Context, length time.Duration) error
	// RestoreTraffic lets clients in. Services with an end are left cut until then, unless it has passed.
	RestoreTraffic(ctx context.Context, ends map[string]time.Time) error
	// Agree returns why not all members of a cluster of some size answer yet, are at a revision or a
	// later one, and have one cluster ID and equal data. With err, they never will. When they do, it disarms
	// NOSPACE if there is enough space.
	Agree(ctx context.Context, size int, revision int64) (waiting, err error)
	// Unready returns why members that agree may never be ready: an alarm is in force. It is empty if none is. The
	// error is about an alarm with which nothing may go on.
	Unready(ctx context.Context) (why string, err error)
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
			return fmt.Errorf("wait for %s: %w after %s", awaited, errTimeout, policy.Duration(limit))
		}
		if err := operate.Pause(ctx, c.Clock, pollPeriod); err != nil {
			return fmt.Errorf("wait for %s: %w", awaited, err)
		}
	}
}

// plural returns the objects of a kind as kubectl takes them: pod/main-0 pod/main-1.
func plural(kind Kind, names []string) string {
	return string(kind) + "/" + strings.Join(names, " "+string(kind)+"/")
}
