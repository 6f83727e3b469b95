// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import "testing"

// TestRolloutLosesNoReview replaces every replica while a hundred pods a second are
// admitted: each is reviewed, since a replica that ends answers what it was asked.
func TestRolloutLosesNoReview(t *testing.T) {
	installed(t)
	load := admit(t, 100)
	for range 2 {
		kubectl(t, "rollout", "restart", "deployment/"+Name, "--namespace", Namespace)
		rolledOut(t)
	}
	load.allReviewed(t)
}
