// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package story plays the main job of this project on a real cluster, step by
// step: members spread over zones, budgets that follow what is true, and nothing
// that restarts a pod or stops one from being created. Each step prints what it
// does and what the objects then say, and fails where that is not what was said.
//
// The demonstration plays it as it is; the tests play it while the API server and
// the webhook are restarted in the middle of every step.
package story

import (
	"context"
	"fmt"
	"io"
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
}

// Namespaces of the story: in the first the policy applies.
const (
	inside  = "etcd-demo"
	outside = "etcd-demo-outside"
)

// What the story's policy says, short enough to wait for.
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
}

func steps() []step {
	return []step{
		{"Three members, three zones, though the Etcd says nothing of affinity", spreadThree},
		{"From three members to five over three zones", growToFive},
		{"etcd-druid reconciles: nothing restarts", reconcile},
		{"A node is cut off: the budget follows what is true", cutNode},
		{"Backups fail: nobody drains until they are well, or for so long", failBackups},
		{"etcd-webhook is gone: pods and StatefulSets are created all the same", withoutWebhook},
	}
}

// Play sets the stage and plays all steps, in order.
func Play(ctx context.Context, w *World) error {
	if err := setStage(ctx, w); err != nil {
		return fmt.Errorf("set the stage: %w", err)
	}
	for i, s := range steps() {
		w.Heading(i+1, s.title)
		if err := s.play(ctx, w); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, s.title, err)
		}
	}
	return nil
}

// disturb gives whoever plays the story the chance to break things in a step.
func (w *World) disturb(ctx context.Context, step string) error {
	if w.Disturb == nil {
		return nil
	}
	if err := w.Disturb(ctx, step); err != nil {
		return fmt.Errorf("disturb: %w", err)
	}
	return nil
}
