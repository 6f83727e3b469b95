// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"context"
	"os"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/story"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// TestStory plays the whole story while the API server and etcd-webhook are
// restarted in the middle of each step, on a testbed of its own.
func TestStory(t *testing.T) {
	ctx := t.Context()
	o := testbed.Options{Name: "kubectl-etcd-story", Log: os.Stderr}
	t.Cleanup(func() {
		if err := testbed.Down(context.WithoutCancel(ctx), o); err != nil {
			t.Errorf("remove the testbed: %v", err)
		}
	})
	tb, err := testbed.Up(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := story.Open(tb, story.NewTeller(os.Stderr, false), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	w.Disturb = story.RestartEverything(w)
	if err := story.Play(ctx, w); err != nil {
		t.Fatal(err)
	}
}
