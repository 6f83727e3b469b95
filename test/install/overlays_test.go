// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOneOverlayOverTheOther goes from self-signed certificates to cert-manager's and
// back, twice, with all that each leaves behind, while a hundred pods a second are admitted.
func TestOneOverlayOverTheOther(t *testing.T) {
	installed(t)
	certManagerInstalled(t)
	over := func(overlay string, patches ...string) {
		load := admit(t, 100)
		kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", pinned(t, overlay, patches...))
		rolledOut(t)
		// Until the last of the replicas before is gone, they run side by side.
		eventually(t, "the replicas before to end", func(ctx context.Context) (string, bool, error) {
			var pods corev1.PodList
			err := admin.List(ctx, &pods, client.InNamespace(Namespace))
			return fmt.Sprint(len(pods.Items), " pods"), len(pods.Items) == 2, err
		})
		t.Log(overlay)
		load.allReviewed(t)
	}
	for range 2 {
		over("overlays/cert-manager", soonSettled)
		over("overlays/self-signed")
	}
	uninstalled(t)
}
