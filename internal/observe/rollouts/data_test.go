// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// TestAddData checks of which members the data may end with the pod: of those that are not ready, while
// there is no quorum.
func TestAddData(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-0"}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-main-0"},
	}}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "etcd", Command: []string{"etcd", "--data-dir=/data"}, VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
	}}
	inContainer := pod.DeepCopy()
	inContainer.Spec.Containers[0].VolumeMounts = nil
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "data-main-0"}}
	going := claim.DeepCopy()
	going.DeletionTimestamp = new(metav1.Now())
	lost, another := claim.DeepCopy(), claim.DeepCopy()
	lost.Status.Phase, another.Name = corev1.ClaimLost, "another"
	for _, row := range []struct {
		what    string
		pod     *corev1.Pod
		claim   *corev1.PersistentVolumeClaim
		healthy int
		ready   bool
		want    bool
	}{
		{"a claim", pod, claim, 1, false, false},
		{"a claim that is being deleted", pod, going, 1, false, true},
		{"in the container", inContainer, claim, 1, false, true},
		{"a claim that has lost its volume", pod, lost, 1, false, true},
		{"a claim that does not exist", pod, another, 1, false, true},
		{"in the container, and there is a quorum", inContainer, claim, 2, false, false},
		{"in the container, and its pod is ready", inContainer, claim, 1, true, false},
	} {
		o := State{Pods: map[string]*corev1.Pod{"main-0": row.pod}}
		o.Facts.Cluster.Size = 3
		for i := range 3 {
			up := i >= 3-row.healthy
			o.Facts.Cluster.Members = append(o.Facts.Cluster.Members, policy.Member{Ready: up, PodReady: up, Exists: true})
		}
		o.Facts.Sets = []rollout.Set{{Pods: []rollout.Pod{{Member: policy.Member{Pod: "main-0", PodReady: row.ready}}}}}
		r := &observe.Reader{Reader: observetest.Objects{row.claim}}
		if err := addData(t.Context(), r, &o); err != nil || o.Facts.Sets[0].Pods[0].DataEnds != row.want {
			t.Errorf("%s: ends %t, want %t: %v", row.what, o.Facts.Sets[0].Pods[0].DataEnds, row.want, err)
		}
	}
}
