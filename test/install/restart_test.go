// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import "testing"

// TestRolloutLosesNoReview replaces every replica while it creates a hundred pods a second. Each
// pod is reviewed, because a replica that stops still responds to its open requests.
func TestRolloutLosesNoReview(t *testing.T) {
	installed(t)
	load := admit(t, 100)
	for range 2 {
		kubectl(t, "rollout", "restart", "deployment/"+Name, "--namespace", Namespace)
		rolledOut(t)
	}
	load.allReviewed(t)
}
