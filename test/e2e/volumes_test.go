// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// Volumes that are bound in one zone must not keep their members Pending, and the
// member that is free to go elsewhere does.
func TestVolumesInTheWrongZone(t *testing.T) {
	beside(t)
	for _, bound := range []int{2, 3} {
		t.Run(fmt.Sprintf("%d of 3 bound in one zone", bound), func(t *testing.T) {
			t.Parallel()
			enter(t, 3)
			ns, _ := governed(t, nil)
			zone := bed.Nodes()[0].Zone
			c := startReviewed(t, ns, "wrong", clusters.Spec{Flavour: clusters.Plain, Size: 3}, func() {
				for i := range bound {
					claimInZone(t, ns, fmt.Sprintf("data-wrong-%d", i), bed.Nodes()[0].Name)
				}
			})
			if zones := clusters.Zones(members(t, c)); zones[zone] != bound {
				t.Errorf("%d members are in %s, want the %d whose volumes are there: %v", zones[zone], zone, bound, zones)
			}
			restartsInPlace(t, c)
		})
	}
}

// restartsInPlace deletes each member's pod in turn: with the others running it must
// find its place again.
func restartsInPlace(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	for _, m := range members(t, c) {
		if err := kube.Delete(t.Context(), &m.Pod); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a new pod "+m.Pod.Name, func(ctx context.Context) (string, bool, error) {
			var now corev1.Pod
			err := kube.Get(ctx, client.ObjectKeyFromObject(&m.Pod), &now)
			return "the old one", err == nil && now.UID != m.Pod.UID, client.IgnoreNotFound(err)
		})
		if err := c.WaitReady(t.Context()); err != nil {
			t.Fatalf("after %s was deleted: %v", m.Pod.Name, err)
		}
	}
}

// claimInZone binds a claim to the zone of a node before its member is there.
func claimInZone(t *testing.T, ns, name, node string) {
	t.Helper()
	class := "zone"
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name,
			Annotations: map[string]string{"volume.kubernetes.io/selected-node": node},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	if err := client.IgnoreAlreadyExists(kube.Create(t.Context(), claim)); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("claim %s/%s to be bound", ns, name), func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return string(claim.Status.Phase), claim.Status.Phase == corev1.ClaimBound, err
	})
}
