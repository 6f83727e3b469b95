// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package story plays the main use of this project on a real cluster, step by step. Members are
// spread over zones, and budgets follow the state of the members. No step restarts a pod or
// stops a pod from being created. Each step prints what it does and the resulting objects, and
// fails if they differ from the expected ones.
//
// The demonstration plays the whole story. The tests play it in two halves, growth and failures.
// In the middle of every step, the tests restart the API server and the webhook.
package story

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// World is the testbed of the story, with its clusters and its output.
type World struct {
	*Printer

	Testbed *testbed.Testbed
	Client  client.Client
	// Disturb is called in the middle of each step, and may break what the story should survive.
	// Nil disturbs nothing.
	Disturb func(ctx context.Context, step string) error
	// Log receives the output of programs that the story runs.
	Log io.Writer

	main, outside, grow, literal *clusters.Cluster
	grows                        bool // whether the story includes the clusters that grow
}

// The namespaces of the story. The policy selects the first.
const (
	inside  = "etcd-demo"
	outside = "etcd-demo-outside"
)

// The durations of the story's policy are short enough to wait for.
const (
	backupHoldLimit = time.Minute
	settle          = 10 * time.Second
)

// holdLimit returns the policy's limit of a hold. When a test breaks the cluster on purpose, the
// story must observe a waiting drain before this limit has passed.
func (w *World) holdLimit() time.Duration {
	if w.Disturb != nil {
		return backupHoldLimit * 3 / 2
	}
	return backupHoldLimit
}

// limit is the timeout of every wait that is not measured, because a machine may be slow.
const limit = 12 * time.Minute

// step is one part of the story.
type step struct {
	title string
	play  func(context.Context, *World) error
	grows bool // whether the step belongs to the growth half
}

func steps() []step {
	return []step{
		{title: "Three members, three zones, though the Etcd has no affinity", play: spreadThree},
		{title: "From three members to five over three zones", play: growToFive, grows: true},
		{title: "etcd-druid reconciles: nothing restarts", play: reconcile, grows: true},
		{title: "A node is cut off: the budget follows what is true", play: cutNode},
		{title: "Backups fail: no drain until they succeed again, or until the limit", play: failBackups},
		{title: "etcd-webhook is gone: pods and StatefulSets are created all the same", play: withoutWebhook},
	}
}

// Play sets the stage and plays the steps with these numbers in order, or all steps if no
// numbers are given. The first step creates the clusters for the other steps.
func Play(ctx context.Context, w *World, numbers ...int) error {
	played := func(i int) bool { return len(numbers) == 0 || slices.Contains(numbers, i+1) }
	all := steps()
	for i, s := range all {
		w.grows = w.grows || s.grows && played(i)
	}
	if err := setStage(ctx, w); err != nil {
		return fmt.Errorf("set the stage: %w", err)
	}
	for i, s := range all {
		if !played(i) {
			continue
		}
		w.Heading(i+1, s.title)
		if err := s.play(ctx, w); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, s.title, err)
		}
	}
	return nil
}

// disturb calls World.Disturb, which may break the cluster in the middle of a step.
func (w *World) disturb(ctx context.Context, step string) error {
	if w.Disturb == nil {
		return nil
	}
	if err := w.Disturb(ctx, step); err != nil {
		return fmt.Errorf("disturb: %w", err)
	}
	return nil
}
