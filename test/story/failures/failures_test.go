// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/story"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// TestStory plays the failures half of the story: a node is isolated, and backups fail.
func TestStory(t *testing.T) {
	o := testbed.Options{Name: "kubectl-etcd-failures", Log: t.Output()}
	if err := story.PlayDisturbed(t.Context(), o, 1, 4, 5); err != nil {
		t.Fatal(err)
	}
}
