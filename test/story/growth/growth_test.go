// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/story"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// TestStory plays the growth half of the story: scale-out, reconciliation, and pods without the
// webhook.
func TestStory(t *testing.T) {
	o := testbed.Options{Name: "kubectl-etcd-growth", Log: t.Output()}
	if err := story.PlayDisturbed(t.Context(), o, 1, 2, 3, 6); err != nil {
		t.Fatal(err)
	}
}
