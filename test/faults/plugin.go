// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

const (
	// scaledSize is how many members the plugin scales out to.
	scaledSize = 5
	// scaleLimit is the timeout of one run of the plugin. It is refused or gives up much sooner if other
	// faults prevent it.
	scaleLimit = 6 * time.Minute
)

// scaleByPlugin scales the cluster out with kubectl etcd scale, and in again when the fault ends. The plugin
// adds and removes members of etcd itself, and refuses while the cluster is not well. What it began stays then,
// and the end of the fault, or of the sequence, completes it.
func scaleByPlugin(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	outcome, err := w.runScale(ctx, scaledSize)
	return outcome, func(ctx context.Context) error {
		w.briefly(ctx, fmt.Sprintf("a scale to %d members", w.initial), w.scaledBack)
		return nil
	}, err
}

// scaledBack runs the plugin, and reports whether the cluster has its first size again. It first completes a
// scale-out that was interrupted.
func (w *world) scaledBack(ctx context.Context) (string, bool, error) {
	var seen string
	for _, size := range []int{scaledSize, w.initial} {
		if size == scaledSize && !w.interrupted {
			continue
		}
		outcome, err := w.runScale(ctx, size)
		if seen = outcome; err != nil || w.interrupted {
			return seen, false, err
		}
	}
	return seen, w.size == w.initial, nil
}

// runScale runs kubectl etcd scale once, and then counts as many members as the StatefulSet has replicas.
// An exit code is an outcome, and no error.
func (w *world) runScale(ctx context.Context, size int) (outcome string, err error) {
	paths, err := programs.Ensure(ctx, programs.Cache{}, []string{"kubectl-etcd"}, io.Discard)
	if err != nil {
		return "", err
	}
	w.change(func(f *facts) { f.deletes = true })
	var leaving []string
	for ordinal := size; ordinal < w.size; ordinal++ {
		leaving = append(leaving, w.pod(ordinal))
	}
	w.allow(leaving...)
	var printed bytes.Buffer
	run, cancel := context.WithTimeout(ctx, scaleLimit)
	defer cancel()
	cmd := exec.CommandContext(run, paths["kubectl-etcd"], "scale", "statefulset/"+w.cluster.Full(), "--replicas", strconv.Itoa(size), //nolint:gosec // built from this checkout
		"-n", w.cluster.Namespace, "-y", "--kubeconfig", w.bed.Kubeconfig())
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return "", err
	}
	w.saw("kubectl etcd scale --replicas %d: %s", size, printed.String())
	const refused = 2
	w.interrupted = err != nil && (w.interrupted || cmd.ProcessState.ExitCode() != refused)
	return fmt.Sprintf("exit code %d: %s", cmd.ProcessState.ExitCode(), lastLine(printed.String())), w.resize(ctx)
}

// resize has the judge count as many members as the StatefulSet has replicas, and not fewer than at first.
func (w *world) resize(ctx context.Context) error {
	return clusters.Await(ctx, brief, "the replicas to be read", func(ctx context.Context) (string, bool, error) {
		set, err := w.cluster.StatefulSet(ctx)
		if err != nil {
			return "", false, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.size = max(w.initial, int(*set.Spec.Replicas))
		w.judge.members = nil
		for member := range w.size {
			w.judge.members = append(w.judge.members, w.pod(member))
		}
		return "", true, nil
	})
}

// current returns the number of members, for the goroutine that observes them.
func (w *world) current() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size
}
