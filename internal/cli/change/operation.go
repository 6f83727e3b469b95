// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Operation is one change of a cluster, which Do runs. A nil function is a step that the
// operation doesn't have.
type Operation struct {
	// Verb names the operation in the cluster's lock: "move-leader". It is empty for an
	// operation that takes no lock of one cluster.
	Verb string
	// Subject names what an operation without a cluster changes: "the installation".
	Subject string
	// Needs are the permissions of every plan of the operation, without those for the lock and
	// the Event.
	Needs []operate.Need
	// AllowsUnfinished is true for an operation that may run while a change of members or a
	// restart is unfinished. Such an operation continues that change, undoes it, or repairs
	// something else. All other operations are refused until the change has ended.
	AllowsUnfinished bool
	// AllowsAwaited is true for an operation that may run while only a scale is left of a restore, because it repairs
	// what can keep that scale from beginning.
	AllowsAwaited bool
	// Detaches is true if the change continues without this command, so that --wait=false is
	// possible.
	Detaches bool

	// Judge reads the facts, evaluates the rules and returns the plan, or an error if a rule
	// refuses the operation. A plan without a title means that there is nothing to do. Do
	// calls it before the question and again under the lock, because the user may wait for
	// hours before answering. If the second plan is another one, as Plan.Agreed has it, the command ends.
	Judge func(ctx context.Context) (operate.Plan, error)
	// Already waits for the change of an earlier command if there is nothing to do, or prints
	// the state. It runs without the lock.
	Already func(ctx context.Context) error
	// DryRun lets the API server try the writes. etcd itself has no dry run.
	DryRun func(ctx context.Context) error
	// Act makes the change of the last plan. It calls run.Held before each write.
	Act func(ctx context.Context, run *Run) error
	// After waits for the effect, within the limit, and prints it. It runs without the lock.
	After func(ctx context.Context, limit app.Limit) error
	// Next returns what is left of a change that ended with an error, and how to go on. It is
	// nil or returns "" if that needs no text, or if the same command continues. An
	// operate.HaltedError means that the change can't continue by itself.
	Next func(err error) string
}

// Run is an Operation in progress. It holds the cluster's lock.
type Run struct {
	Lock *lock.Lock

	app     *app.App
	cluster *app.Cluster
	flags   Flags
}

// Held returns an error if another holder may have the lock. It returns nil for an operation
// without a lock.
func (r *Run) Held() error {
	if r.Lock == nil {
		return nil
	}
	return r.Lock.StillHeld()
}

// Done records a completed change as an Event on the cluster and prints a line to stdout.
// An empty line is not printed.
func (r *Run) Done(ctx context.Context, reason policy.Reason, what, line string) {
	// The change is complete, so the Event is written even if the command is interrupted.
	Announce(context.WithoutCancel(ctx), r.app, r.cluster, reason, what, r.flags)
	if line != "" {
		r.Print("%s", line)
	}
}

// Print prints a line to stdout.
func (r *Run) Print(format string, args ...any) { _ = r.app.Linef(r.app.Out, format, args...) }
