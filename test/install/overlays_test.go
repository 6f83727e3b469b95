// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import "testing"

// TestOneOverlayOverTheOther goes from self-signed certificates to cert-manager's and
// back, twice, with all that each leaves behind, while a hundred pods a second are admitted.
func TestOneOverlayOverTheOther(t *testing.T) {
	installed(t)
	certManagerInstalled(t)
	over := func(overlay string, patches ...string) {
		load := admit(t, 100)
		kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", pinned(t, overlay, patches...))
		rolledOut(t)
		awaitPods(t, 2) // the replicas before and these run side by side until then
		t.Log(overlay)
		load.allReviewed(t)
	}
	for range 2 {
		over("overlays/cert-manager", soonSettled)
		over("overlays/self-signed")
	}
	uninstalled(t)
}
