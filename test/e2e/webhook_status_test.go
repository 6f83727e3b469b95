// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import "testing"

// TestWebhookStatusOfDruid asks whether etcd-webhook works for a druid cluster. Its pods belong
// to a StatefulSet, which belongs to an Etcd.
func TestWebhookStatusOfDruid(t *testing.T) {
	beside(t)
	c := sharedDruid(t)
	prints(t, 0, []string{"like a member of Etcd " + c.Namespace + "/" + c.Name + ", which policy", "Patched (Spread)"}, "webhook", "status", "-n", c.Namespace)
}
