// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import "testing"

// TestPluginSecured types at clusters that demand certificates of all who come what other
// tests type at those in the clear.
func TestPluginSecured(t *testing.T) {
	beside(t)
	t.Run("bitnami", func(t *testing.T) {
		t.Parallel()
		c := borrowChart(t) // on which others have looked and maintained
		t.Run("proxy with TLS", func(t *testing.T) { passthrough(t, c) })
	})
}
