// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

var cozystack = schema.GroupVersion{Group: "etcd-operator.cozystack.io", Version: "v1alpha2"}

// TestMembersWithoutStatefulSet creates members as cozystack's etcd-operator does, one after the
// other. Each member is a pod and a claim that belong to an EtcdMember. The members go to
// different zones. A member with a volume in the zone of another member may still start there.
func TestMembersWithoutStatefulSet(t *testing.T) {
	operating(t, 3)
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Etcd("v3.6.16")}, io.Discard); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "cozystack.yaml")
	t.Cleanup(func() {
		if err := clusters.Kubectl(context.WithoutCancel(t.Context()), bed, io.Discard, "delete", "-f", file); err != nil {
			t.Error(err)
		}
	})
	if err := clusters.Kubectl(t.Context(), bed, t.Output(), "apply", "-f", file); err != nil {
		t.Fatal(err)
	}
	ns, _ := governed(t, nil)
	cluster := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(3)}}}
	cluster.SetGroupVersionKind(cozystack.WithKind("EtcdCluster"))
	cluster.SetNamespace(ns)
	cluster.SetName("main")
	retry(t, "an EtcdCluster", func(ctx context.Context) error { return client.IgnoreAlreadyExists(kube.Create(ctx, cluster)) })

	zones := map[string]string{}
	for _, name := range []string{"main-7x2lm", "main-p9c4d", "main-f5k8w"} {
		node := looseMember(t, ns, name)
		if other, taken := zones[node.Labels[corev1.LabelTopologyZone]]; taken {
			t.Errorf("%s is in the zone of %s", name, other)
		}
		zones[node.Labels[corev1.LabelTopologyZone]] = name
	}
	gone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "main-f5k8w"}}
	remove(t, gone)
	eventually(t, "a member to be deleted", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(gone), gone)
		return "the pod still exists", apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	taken := bed.Nodes()[0]
	if zones[taken.Zone] == "main-f5k8w" {
		taken = bed.Nodes()[len(bed.Nodes())-1]
	}
	claimInZone(t, ns, "data-main-new", taken.Name)
	if got := looseMember(t, ns, "main-new").Labels[corev1.LabelTopologyZone]; got != taken.Zone {
		t.Errorf("the member is in zone %s, but its volume is in %s", got, taken.Zone)
	}
	var added corev1.Pod
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "main-new"}, &added); err != nil || !strings.Contains(added.Annotations[v1alpha1.SpreadAnnotation], spread.VolumeZoneTaken.Name()) {
		t.Errorf("%s: %s, %v", added.Name, added.Annotations[v1alpha1.SpreadAnnotation], err)
	}
}

// looseMember creates a member that etcd-webhook has reviewed, and returns its node.
func looseMember(t *testing.T, ns, name string) *corev1.Node {
	t.Helper()
	member := &unstructured.Unstructured{}
	member.SetGroupVersionKind(cozystack.WithKind("EtcdMember"))
	member.SetNamespace(ns)
	member.SetName(name)
	if err := kube.Create(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	if err := client.IgnoreAlreadyExists(kube.Create(t.Context(), zoneClaim(ns, "data-"+name))); err != nil {
		t.Fatal(err)
	}
	var pod *corev1.Pod
	eventually(t, "etcd-webhook to review pod "+name, func(ctx context.Context) (string, bool, error) {
		pod = loosePod(member)
		if err := kube.Create(ctx, pod); err != nil {
			return "", false, client.IgnoreAlreadyExists(err)
		}
		if pod.Annotations[v1alpha1.SpreadAnnotation] != "" {
			return "", true, nil
		}
		return "the pod was created without a review", false, kube.Delete(ctx, pod, client.GracePeriodSeconds(0))
	})
	t.Logf("%s: %s", name, pod.Annotations[v1alpha1.SpreadAnnotation])
	eventually(t, "pod "+name+" to run", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return fmt.Sprintf("%s: %+v", pod.Status.Phase, pod.Status.Conditions), pod.Status.Phase == corev1.PodRunning, err
	})
	var node corev1.Node
	if err := kube.Get(t.Context(), client.ObjectKey{Name: pod.Spec.NodeName}, &node); err != nil {
		t.Fatal(err)
	}
	return &node
}

// loosePod returns a pod as the operator creates it, except that its etcd is a cluster of one
// member.
func loosePod(member *unstructured.Unstructured) *corev1.Pod {
	labels := map[string]string{
		"app.kubernetes.io/name": "etcd", "app.kubernetes.io/instance": "main", "app.kubernetes.io/managed-by": "etcd-operator",
		"app.kubernetes.io/component": member.GetName(), cozystack.Group + "/cluster": "main",
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: member.GetNamespace(), Name: member.GetName(), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(member, member.GroupVersionKind())},
		},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "etcd", Image: images.Etcd("v3.6.16"), Command: []string{"etcd", "--data-dir=/var/lib/etcd/data"},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/etcd"}},
			}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + member.GetName()},
			}}},
		},
	}
}
