// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package story plays the main job of this project on a real cluster, step by
// step: members spread over zones, budgets that follow what is true, and nothing
// that restarts a pod or stops one from being created. Each step prints what it
// does and the objects afterwards, and fails if they differ from what is expected.
//
// The demonstration plays it as it is. The tests play it in two halves, growth and
// failures, while the API server and the webhook are restarted in the middle of every
// step.
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

// World is what the story is played on.
type World struct {
	*Teller

	Testbed *testbed.Testbed
	Client  client.Client
	// Disturb is called in the middle of each step, and may break what should
	// survive it. Nil disturbs nothing.
	Disturb func(ctx context.Context, step string) error
	// Log takes the output of programs that the story runs for their effect.
	Log io.Writer

	main, outside, grow, literal *clusters.Cluster
	grows                        bool // whether the clusters that grow have a part
}

// Namespaces of the story: in the first the policy applies.
const (
	inside  = "etcd-demo"
	outside = "etcd-demo-outside"
)

// The durations of the story's policy, which are short enough to wait for.
const (
	backupHoldLimit = time.Minute
	settle          = 10 * time.Second
)

// holdLimit is the policy's limit of a hold. Where things are broken on purpose, a drain
// must be seen to wait before it has passed.
func (w *World) holdLimit() time.Duration {
	if w.Disturb != nil {
		return backupHoldLimit * 3 / 2
	}
	return backupHoldLimit
}

// limit is what anything gets that is not measured: a machine may be slow.
const limit = 12 * time.Minute

// step is one part of the story.
type step struct {
	title string
	play  func(context.Context, *World) error
	grows bool // whether it belongs to the half of the story with growth
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

// Play sets the stage and plays the steps of these numbers in their order, or all of
// them where none is given. The first makes the clusters of the others.
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

// disturb gives the player of the story a chance to break things in a step.
func (w *World) disturb(ctx context.Context, step string) error {
	if w.Disturb == nil {
		return nil
	}
	if err := w.Disturb(ctx, step); err != nil {
		return fmt.Errorf("disturb: %w", err)
	}
	return nil
}
