// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
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
	if err := scaleBy(t.Context(), kube, c, size); err != nil {
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
	for way, write := range map[string]scaling{"scale": scaleBy, "patch": patchTo} {
		if err := judged(t, c, size, write); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s of %s to %d: %v", way, c, size, err)
		}
	}
}

// scaling is a way to set the replicas of a cluster.
type scaling func(context.Context, client.Client, *clusters.Cluster, int) error

func scaleBy(ctx context.Context, kube client.Client, c *clusters.Cluster, size int) error {
	return kube.SubResource("scale").Patch(ctx, ownerOf(c), replicas(size), client.WithSubResourceBody(&autoscalingv1.Scale{}))
}

func patchTo(ctx context.Context, kube client.Client, c *clusters.Cluster, size int) error {
	return kube.Patch(ctx, ownerOf(c), replicas(size))
}

func replicas(size int) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, size))
}

// ownerOf returns the object with the replicas of a cluster, with its name alone.
func ownerOf(c *clusters.Cluster) client.Object {
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Full()}
	if c.Flavour == clusters.Druid {
		return &druidv1alpha1.Etcd{ObjectMeta: meta}
	}
	return &appsv1.StatefulSet{ObjectMeta: meta}
}

// judged sets the replicas of a cluster until the guard has judged the write, and returns the error of the
// write. On an overloaded machine, a review may be too late, and the write goes on without it: the API server
// counts it, or etcd-webhook warns. The test then undoes the write and tries again.
func judged(t *testing.T, c *clusters.Cluster, size int, write scaling) (err error) {
	t.Helper()
	before, err := replicaPods(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("a review of %d replicas of %s", size, c), func(ctx context.Context) (string, bool, error) {
		ignored, late := failedOpen(t), &lateReview{}
		if err = write(ctx, warningTo(t, late), c, size); err != nil || failedOpen(t) == ignored && !late.warned.Load() {
			return "", true, nil
		}
		defer awaitPods(t, c, before)
		return "the review was too late", false, patchTo(ctx, kube, c, before)
	})
	return err
}

// appliedRefused changes the replicas of a StatefulSet by a server-side apply, and requires a
// refusal.
func appliedRefused(t *testing.T, c *clusters.Cluster, size int) {
	t.Helper()
	if err := judged(t, c, size, applyTo); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "kubectl etcd scale statefulset/"+c.Full()) {
		t.Errorf("apply %d replicas of %s: %v", size, c, err)
	}
}

func applyTo(ctx context.Context, kube client.Client, c *clusters.Cluster, size int) error {
	body := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":%q,"namespace":%q},"spec":{"replicas":%d}}`, c.Full(), c.Namespace, size)
	return kube.Patch(ctx, ownerOf(c), client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("helm"), client.ForceOwnership)
}

// lateReview remembers whether etcd-webhook warned that it could not judge a write in time.
type lateReview struct{ warned atomic.Bool }

// HandleWarningHeader implements rest.WarningHandler.
func (l *lateReview) HandleWarningHeader(_ int, _, text string) {
	if strings.Contains(text, "EtcdTopologyPolicy is not applied to ") {
		l.warned.Store(true)
	}
}

// warningTo returns a client that gives all warnings to a lateReview.
func warningTo(t *testing.T, late *lateReview) client.Client {
	t.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.WarningHandler = late
	c, err := client.New(config, client.Options{Scheme: kube.Scheme(), Mapper: kube.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func awaitPods(t *testing.T, c *clusters.Cluster, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods", want), func(ctx context.Context) (string, bool, error) {
		members, err := replicaPods(ctx, c)
		return fmt.Sprintf("%d members", members), members == want, err
	})
}

// replicaPods returns how many pods of StatefulSets are in the namespace of a cluster.
func replicaPods(ctx context.Context, c *clusters.Cluster) (n int, err error) {
	var pods corev1.PodList
	err = kube.List(ctx, &pods, client.InNamespace(c.Namespace))
	for i := range pods.Items {
		if ref := metav1.GetControllerOf(&pods.Items[i]); ref != nil && ref.Kind == "StatefulSet" {
			n++
		}
	}
	return n, err
}
