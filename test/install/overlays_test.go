// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import "testing"

// TestOneOverlayOverTheOther changes from self-signed certificates to cert-manager's and back,
// twice. The objects of the other overlay remain each time. Meanwhile it creates a hundred pods
// a second.
func TestOneOverlayOverTheOther(t *testing.T) {
	installed(t)
	certManagerInstalled(t)
	over := func(overlay string, patches ...string) {
		load := admit(t, 100)
		kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", pinned(t, overlay, patches...))
		rolledOut(t)
		awaitPods(t, 2) // until then the old and the new replicas run side by side
		t.Log(overlay)
		load.allReviewed(t)
	}
	for range 2 {
		over("overlays/cert-manager", soonSettled)
		over("overlays/self-signed")
	}
	uninstalled(t)
}
