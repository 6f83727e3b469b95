// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestVolumesInTheWrongZone binds volumes in one zone. Their members must not stay Pending, and
// a member without a bound volume goes to another zone.
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
				t.Errorf("%d members are in %s, want the %d with volumes there: %v", zones[zone], zone, bound, zones)
			}
			restartsInPlace(t, c)
		})
	}
}

// restartsInPlace deletes the pod of each member in turn. While the other pods run, the new pod
// must find a node.
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

// TestVolumeBoundAfterAdmission has the scheduler bind two volumes in one zone, after admission
// has required different zones for their members.
func TestVolumeBoundAfterAdmission(t *testing.T) {
	beside(t)
	enter(t, 3)
	ns, _ := governed(t, nil)
	zone, node := bed.Nodes()[0].Zone, bed.Nodes()[0].Name
	gate := corev1.PodSchedulingGate{Name: "e2e/volumes"}
	c := reviewed(t, func() *clusters.Cluster {
		return applyGated(t, ns, "tied", gate)
	})
	for i := range 2 {
		claimInZone(t, ns, fmt.Sprintf("data-tied-%d", i), node)
	}
	openGates(t, ns)
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if zones := clusters.Zones(members(t, c)); zones[zone] != 2 {
		t.Errorf("the two members with volumes in %s are not both there: %v", zone, zones)
	}
	awaitEvent(t, c, "found no node for 2m: it was required to run in")

	tied := ""
	// A member that does not answer comes first: then the check advises no replacement.
	eventually(t, "the replacement of a tied member is advised", func(context.Context) (string, bool, error) {
		out, _ := plugin(t, 3, "check", "tied", "-n", ns)
		for _, name := range []string{"tied-0", "tied-1"} {
			if strings.Contains(out, fmt.Sprintf("kubectl etcd member replace statefulset/tied %s --force -n %s", name, ns)) {
				tied = name
			}
		}
		return out, tied != "", nil
	})
	plugin(t, 0, "member", "replace", "statefulset/tied", tied, "--force", "-n", ns, "-y")
	if zones := clusters.Zones(members(t, c)); len(zones) != 3 {
		t.Errorf("after the replacement of %s the members are not in three zones: %v", tied, zones)
	}
	// The pod template has no such term. Admission added the terms to the pods.
	refuses(t, []string{"6 nodes match: 7 members could not be scheduled"}, "scale", "statefulset/tied", "--replicas", "7", "-n", ns, "-y")
}

// applyGated creates a cluster with three pods that the scheduler ignores.
func applyGated(t *testing.T, ns, name string, gate corev1.PodSchedulingGate) *clusters.Cluster {
	t.Helper()
	c, err := clusters.Apply(t.Context(), bed, ns, name, clusters.Spec{Flavour: clusters.Plain, StorageClass: "zone", Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{gate}
	}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "three pods of "+c.String(), func(ctx context.Context) (string, bool, error) {
		found, err := c.Members(ctx)
		return fmt.Sprintf("%d pods", len(found)), len(found) == 3, err
	})
	return c
}

// openGates lets the scheduler handle every pod of the namespace until the test ends.
func openGates(t *testing.T, ns string) {
	t.Helper()
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			var pods corev1.PodList
			_ = kube.List(t.Context(), &pods, client.InNamespace(ns)) // a failed list is retried in the next round
			for _, pod := range pods.Items {
				if len(pod.Spec.SchedulingGates) > 0 {
					_ = kube.Patch(t.Context(), &pod, client.RawPatch(types.JSONPatchType, []byte(`[{"op": "remove", "path": "/spec/schedulingGates"}]`)))
				}
			}
			select {
			case <-t.Context().Done():
				return
			case <-ticker.C:
			}
		}
	}()
}

// zoneClaim returns a claim for a volume that the nodes of one zone can reach.
func zoneClaim(ns, name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("zone"),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
}

// claimInZone binds a claim to a node's zone before its member exists. It creates the claim if
// it doesn't exist.
func claimInZone(t *testing.T, ns, name, node string) {
	t.Helper()
	claim := zoneClaim(ns, name)
	if err := client.IgnoreAlreadyExists(kube.Create(t.Context(), claim)); err != nil {
		t.Fatal(err)
	}
	choose := fmt.Appendf(nil, `{"metadata":{"annotations":{"volume.kubernetes.io/selected-node":%q}}}`, node)
	if err := kube.Patch(t.Context(), claim, client.RawPatch(types.MergePatchType, choose)); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("claim %s/%s to be bound", ns, name), func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return string(claim.Status.Phase), claim.Status.Phase == corev1.ClaimBound, err
	})
}
