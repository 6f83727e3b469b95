// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/provisioner"
)

// TestPluginVolumeGrow makes the volumes of a StatefulSet larger under load, with a driver that grows mounted file
// systems, and with one that needs a new pod for it. Killed after each of its steps, the same command continues.
func TestPluginVolumeGrow(t *testing.T) {
	t.Parallel()
	for _, offline := range []bool{false, true} {
		t.Run(map[bool]string{false: "online", true: "offline"}[offline], func(t *testing.T) {
			operating(t, 3)
			ns := namespace(t)
			c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, StorageClass: expandableClass(t, ns, offline)})
			writing := startLoad(t, c)
			template := templateOf(t, c)
			refuses(t, []string{"volume claim data-main-0 of main-0 requests 1.0 GiB already"}, "volume", "grow", "main", "--size", "512Mi", "-n", ns, "-y")

			before := livesOf(t, c)
			_, printed := plugin(t, 0, "volume", "grow", "main", "--size", "2Gi", "-n", ns, "-y", "--reason", "a test")
			wants(t, printed, "claim data-main-0 of main-0 requests 2Gi", "the claim template data of StatefulSet main requests 1Gi", "--cascade=orphan")
			grown(t, c, "2Gi")
			if !offline {
				restarted(t, c, before)
			} else {
				restarted(t, c, before, "main-0", "main-1", "main-2")
				wants(t, printed, "the leadership went from ")
			}

			before = livesOf(t, c)
			if runs := killRepeatedly(t, c, "volume", "grow", "main", "--size", "3Gi", "-n", ns, "-y"); runs < 3 {
				t.Errorf("only %d runs: the plugin was not killed often enough", runs)
			}
			grown(t, c, "3Gi")
			if !offline {
				restarted(t, c, before)
			}
			votersAre(t, c, 3)
			if now := templateOf(t, c); now != template {
				t.Errorf("the pod template changed: %s", now)
			}
			_, printed = plugin(t, 0, "volume", "grow", "main", "--size", "3Gi", "-n", ns, "-y")
			wants(t, printed, "Every volume of StatefulSet "+ns+"/main has 3Gi already.")
			writing.check(t)
			if !offline {
				growsNewMembers(t, c)
			}
		})
	}
}

// expandableClass creates a storage class whose volumes can grow.
func expandableClass(t *testing.T, ns string, offline bool) string {
	t.Helper()
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Provisioner: provisioner.Name, AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer), Parameters: map[string]string{"pin": "none"},
	}
	if offline {
		class.Parameters["expansion"] = "offline"
	}
	if err := kube.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, class) })
	return class.Name
}

// grown requires that every claim and every volume of the members has a size.
func grown(t *testing.T, c *clusters.Cluster, size string) {
	t.Helper()
	var claims corev1.PersistentVolumeClaimList
	if err := kube.List(t.Context(), &claims, client.InNamespace(c.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims.Items {
		request, capacity := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
		var volume corev1.PersistentVolume
		if err := kube.Get(t.Context(), client.ObjectKey{Name: claim.Spec.VolumeName}, &volume); err != nil {
			t.Fatal(err)
		}
		has := volume.Spec.Capacity[corev1.ResourceStorage]
		if got := fmt.Sprint(request.String(), " ", capacity.String(), " ", has.String()); strings.ReplaceAll(got, size, "") != "  " {
			t.Errorf("%s: %s, want all %s", claim.Name, got, size)
		}
	}
}

// growsNewMembers scales out. The new members have small volumes, and the same command makes these larger.
func growsNewMembers(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	plugin(t, 0, "scale", "main", "--replicas", "5", "-n", c.Namespace, "-y")
	_, printed := plugin(t, 0, "volume", "grow", "main", "--size", "3Gi", "-n", c.Namespace, "-y")
	wants(t, printed, "claim data-main-4 of main-4 requests 3Gi", "claim data-main-3 of main-3 requests 3Gi")
	if strings.Contains(printed, "data-main-0 of main-0 requests 3Gi") {
		t.Errorf("it grew others: %s", printed)
	}
	grown(t, c, "3Gi")
}
