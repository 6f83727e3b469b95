// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"context"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/story"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// TestStory plays the whole story while the API server and etcd-webhook are
// restarted in the middle of each step. Its two halves need nothing of each other but
// the first step, and each has a testbed of its own.
func TestStory(t *testing.T) {
	for half, steps := range map[string][]int{
		"grow": {1, 2, 3, 6},
		"fail": {1, 4, 5},
	} {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			play(t, testbed.Options{Name: "kubectl-etcd-story-" + half, Log: t.Output()}, steps)
		})
	}
}

func play(t *testing.T, o testbed.Options, steps []int) {
	t.Helper()
	ctx := t.Context()
	t.Cleanup(func() {
		if err := testbed.Down(context.WithoutCancel(ctx), o); err != nil {
			t.Errorf("remove the testbed: %v", err)
		}
	})
	tb, err := testbed.Up(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := story.Open(tb, story.NewTeller(t.Output(), false), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	w.Disturb = story.RestartEverything(w)
	if err := story.Play(ctx, w, steps...); err != nil {
		t.Fatal(err)
	}
}
