// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestClusterOfThreeStatefulSets has a cluster with one StatefulSet per member. The members are
// in different zones, one budget selects all of them, and every command handles them as one
// cluster.
func TestClusterOfThreeStatefulSets(t *testing.T) {
	operating(t, 3)
	ns, p := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	startThree(t, ns, func(manifest string) string { return manifest })
	differentZones(t, ns, "north-0", "east-0", "west-0")
	eventually(t, "one budget over three members", func(ctx context.Context) (string, bool, error) {
		var list policyv1.PodDisruptionBudgetList
		if err := kube.List(ctx, &list, client.InNamespace(ns)); err != nil || len(list.Items) != 1 {
			return fmt.Sprintf("%d budgets", len(list.Items)), false, err
		}
		b := list.Items[0]
		return fmt.Sprintf("%+v", b.Status), b.Spec.MinAvailable.IntValue() == 2 && b.Status.ExpectedPods == 3 && b.Status.DisruptionsAllowed == 1, nil
	})
	eventually(t, "one cluster in the policy's status", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(p), p)
		return fmt.Sprintf("%+v", p.Status.Clusters), len(p.Status.Clusters) == 1, err
	})

	for _, target := range []string{"statefulset/east", "statefulset/north", "pod/west-0"} {
		prints(t, 0, []string{"3 of 3 voters healthy"}, "status", target, "-n", ns)
	}
	plugin(t, 0, "snapshot", "save", "statefulset/west", filepath.Join(t.TempDir(), "snapshot.db"), "-n", ns)
	prints(t, 0, []string{"StatefulSet east: container etcd requests no cpu", "kubectl set resources statefulset west -c etcd"}, "check", "statefulset/north", "--only", "W004", "-n", ns)
	if _, done := plugin(t, 0, "defrag", "statefulset/west", "-n", ns, "-y"); strings.Count(done, " is defragmented:") != 3 {
		t.Errorf("not every member is defragmented:\n%s", done)
	}
	refuses(t, []string{"east, north and west", "kubectl etcd member add statefulset/east"}, "scale", "statefulset/west", "--replicas", "5", "-n", ns, "-y")
	refuses(t, []string{"east, north and west"}, "member", "replace", "statefulset/west", "west-0", "-n", ns, "-y")

	retry(t, "an eviction", func(ctx context.Context) error { return evict(ctx, ns, "east-0") })
	if err := evict(t.Context(), ns, "north-0"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the eviction of a second member got %v", err)
	}
}

// TestRolloutOfThreeStatefulSets changes the templates of a cluster's StatefulSets at once, as our advice may be typed
// for each. Kubernetes rolls each StatefulSet out by itself. The members restart one at a time all the same.
func TestRolloutOfThreeStatefulSets(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, guardRollouts)
	startThree(t, ns, func(manifest string) string {
		return strings.ReplaceAll(manifest, "      volumes: [{name: data, emptyDir: {}}]\n",
			"  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 64Mi}}}}]\n")
	})
	whole, err := clusters.At(bed, ns, "east", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	quorumStays(t, whole, 2)
	for _, name := range threeSets {
		retry(t, "the template of "+name, func(ctx context.Context) error {
			return clusters.Kubectl(ctx, bed, t.Output(), "set", "resources", "statefulset", name, "-c", "etcd", "--requests=cpu=20m", "-n", ns)
		})
	}
	for _, name := range threeSets {
		retry(t, "the rollout of "+name, func(ctx context.Context) error {
			return clusters.Kubectl(ctx, bed, t.Output(), "rollout", "status", "statefulset/"+name, "-n", ns, "--timeout=5m")
		})
	}
	prints(t, 0, []string{"3 of 3 voters healthy"}, "status", "statefulset/east", "-n", ns)
}

// threeSets are the StatefulSets of one cluster in testdata/three-statefulsets.yaml.
var threeSets = []string{"north", "east", "west"}

// startThree starts a cluster of three StatefulSets, whose manifest it changes first.
func startThree(t *testing.T, ns string, change func(manifest string) string) {
	t.Helper()
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Etcd("v3.6.16")}, io.Discard); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join("testdata", "three-statefulsets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(change(string(manifest))), 0o600); err != nil {
		t.Fatal(err)
	}
	retry(t, "three StatefulSets", func(ctx context.Context) error {
		return clusters.Kubectl(ctx, bed, t.Output(), "apply", "-n", ns, "-f", file)
	})
	for _, name := range threeSets {
		retry(t, "member "+name, func(ctx context.Context) error {
			return clusters.Kubectl(ctx, bed, t.Output(), "wait", "-n", ns, "--for=jsonpath={.status.readyReplicas}=1", "--timeout=10m", "statefulset/"+name)
		})
	}
}

func evict(ctx context.Context, ns, name string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	return kube.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
}

// differentZones checks that each pod is in its own zone.
func differentZones(t *testing.T, ns string, names ...string) {
	t.Helper()
	seen := map[string]string{}
	for _, name := range names {
		var pod corev1.Pod
		var node corev1.Node
		retry(t, "pod "+name, func(ctx context.Context) error {
			if err := kube.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, &pod); err != nil {
				return err
			}
			return kube.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, &node)
		})
		zone := node.Labels[corev1.LabelTopologyZone]
		if other, taken := seen[zone]; taken {
			t.Errorf("%s and %s are both in zone %s", name, other, zone)
		}
		seen[zone] = name
	}
}
