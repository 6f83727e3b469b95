// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestScaleGuard scales clusters through their scale subresource, by a patch and by a
// server-side apply. The guard refuses what takes the quorum away from the voters. It allows a
// stop and a start of all members, and the steps of the plugin.
func TestScaleGuard(t *testing.T) {
	beside(t)
	for _, flavour := range []clusters.Flavour{clusters.Plain, clusters.Druid} {
		t.Run(string(flavour), func(t *testing.T) {
			t.Parallel()
			enter(t, 3)
			ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
			c := start(t, ns, "main", clusters.Spec{Flavour: flavour, Size: 3})
			put(t, c, 20)
			want := contents(t, c)
			awaitMin(t, c, 2, policy.AllReady.Name())

			if flavour == clusters.Plain {
				// The CRD's validation refuses it for an Etcd.
				scaleRefused(t, c, 1, "1 of 3 voters would keep a replica, quorum is 2")
				appliedRefused(t, c, 1)
			}
			scaleTo(t, c, 0)
			awaitPods(t, c, 0)
			scaleRefused(t, c, 1, "1 of 3 voters would start, quorum is 2")
			scaleTo(t, c, 3)
			if err := c.WaitReady(t.Context()); err != nil {
				t.Fatal(err)
			}
			if now := contents(t, c); now != want {
				t.Errorf("the contents are %q, want %q", now, want)
			}
		})
	}
}

// TestScaleGuardBesidePlugin scales to one member with the plugin while the guard is installed.
// The guard refuses no step.
func TestScaleGuardBesidePlugin(t *testing.T) {
	operating(t, 5)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	for _, size := range []int{5, 3, 1} {
		to := []string{"scale", "statefulset/main", "--replicas", fmt.Sprint(size), "-n", ns, "-y"}
		_, tried := plugin(t, 0, append(to, "--dry-run=server")...)
		_, messages := plugin(t, 0, to...)
		if strings.Contains(tried+messages, "StatefulSet "+ns+"/main: ") {
			t.Errorf("to %d: the guard warns the plugin: %s%s", size, tried, messages)
		}
		votersAre(t, c, size)
	}
	works(t, c)
}

// scaleTo scales a cluster as kubectl scale does. For an Etcd, it also requests a reconciliation
// from etcd-druid.
func scaleTo(t *testing.T, c *clusters.Cluster, size int) {
	t.Helper()
	if err := scaleBy(t, c, size); err != nil {
		t.Fatalf("scale %s to %d: %v", c, size, err)
	}
	if c.Flavour == clusters.Druid {
		if err := c.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// scaleRefused scales a cluster in both ways, and requires a refusal with a text.
func scaleRefused(t *testing.T, c *clusters.Cluster, size int, text string) {
	t.Helper()
	for way, err := range map[string]error{"scale": scaleBy(t, c, size), "patch": c.Scale(t.Context(), size)} {
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s of %s to %d: %v", way, c, size, err)
		}
	}
}

func scaleBy(t *testing.T, c *clusters.Cluster, size int) error {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Full()}
	var owner client.Object = &appsv1.StatefulSet{ObjectMeta: meta}
	if c.Flavour == clusters.Druid {
		owner = &druidv1alpha1.Etcd{ObjectMeta: meta}
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, size))
	return kube.SubResource("scale").Patch(t.Context(), owner, patch, client.WithSubResourceBody(&autoscalingv1.Scale{}))
}

// appliedRefused changes the replicas of a StatefulSet by a server-side apply, and requires a
// refusal.
func appliedRefused(t *testing.T, c *clusters.Cluster, size int) {
	t.Helper()
	body := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":%q,"namespace":%q},"spec":{"replicas":%d}}`, c.Full(), c.Namespace, size)
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Full()}}
	err := kube.Patch(t.Context(), sts, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("helm"), client.ForceOwnership)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "kubectl etcd scale statefulset/"+c.Full()) {
		t.Errorf("apply %d replicas of %s: %v", size, c, err)
	}
}

func awaitPods(t *testing.T, c *clusters.Cluster, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods", want), func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		err := kube.List(ctx, &pods, client.InNamespace(c.Namespace))
		members := 0
		for i := range pods.Items {
			if ref := metav1.GetControllerOf(&pods.Items[i]); ref != nil && ref.Kind == "StatefulSet" {
				members++
			}
		}
		return fmt.Sprintf("%d members", members), members == want, err
	})
}
