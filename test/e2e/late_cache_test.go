// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestWhatTheCacheLacks has etcd-webhook review pods that refer to objects that are not in its
// caches, as if they had just been created. etcd-webhook reads each of these objects from the
// API server, and has the permission to do so.
func TestWhatTheCacheLacks(t *testing.T) {
	beside(t)
	ns, _ := governed(t, nil)
	lost := lostCluster(t, ns)
	claim := zoneClaim(ns, "data-lost-2")
	claim.Spec.VolumeName = "no-such-volume"
	if err := kube.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	nowhere := lost.DeepCopy()
	nowhere.Name = "nowhere"
	want := []string{"get nodes", "get persistentvolumeclaims", "get persistentvolumes", "get statefulsets.apps"}
	eventually(t, "etcd-webhook to read the objects that its caches lack", func(ctx context.Context) (string, bool, error) {
		// The claim of the first pod, the volume of the second pod, and the StatefulSet of the
		// third pod don't exist.
		for _, pod := range []*corev1.Pod{podOf(lost, "lost-1"), podOf(lost, "lost-2"), podOf(nowhere, "nowhere-0")} {
			if err := kube.Create(ctx, pod, client.DryRunAll); err != nil {
				return "", false, err
			}
		}
		used, err := install.UsedRights(bed)
		lacks := slices.DeleteFunc(slices.Clone(want), func(r string) bool { return slices.Contains(used, r) })
		return "it did not " + strings.Join(lacks, ", "), len(lacks) == 0, err
	})
}

// lostCluster creates a cluster of one member on a node that doesn't exist.
func lostCluster(t *testing.T, ns string) *appsv1.StatefulSet {
	t.Helper()
	labels := map[string]string{"app": "lost"}
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "lost"}, Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(1)), ServiceName: "lost", Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			NodeName:   "no-such-node",
			Containers: []corev1.Container{{Name: "etcd", Image: "etcd", Command: []string{"etcd"}, VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		}},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*zoneClaim(ns, "data")},
	}}
	if err := kube.Create(t.Context(), sts); err != nil {
		t.Fatal(err)
	}
	return sts
}

// podOf returns a pod as the StatefulSet controller creates it.
func podOf(sts *appsv1.StatefulSet, name string) *corev1.Pod {
	labels := map[string]string{appsv1.StatefulSetPodNameLabel: name}
	maps.Copy(labels, sts.Spec.Template.Labels)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: sts.Namespace, Name: name, Labels: labels}, Spec: *sts.Spec.Template.Spec.DeepCopy()}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name},
	}}}
	return pod
}
