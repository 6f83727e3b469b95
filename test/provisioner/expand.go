// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package provisioner

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	// expansion is a class's parameter. With the value offline, the file system of a volume grows only in a
	// new pod. The default is at once.
	expansion = "expansion"
	// mountedBy is the annotation of a claim with the UID of the pod that has it mounted while its file
	// system is to grow.
	mountedBy = "testbed.kubectl-etcd.dev/mounted-by"
)

// expand gives the volume of a bound claim what the claim requests, if its class allows expansion. The volumes
// are directories, so only the numbers grow.
func (p *provisioner) expand(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	class, err := p.expandable(claim)
	if err != nil || class == nil {
		return err
	}
	if class.Parameters[expansion] == "offline" {
		waits, err := p.waitsForPod(ctx, claim)
		if err != nil || waits {
			return err
		}
	}
	request := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	size := map[string]any{"capacity": map[string]any{"storage": request.String()}}
	volume, err := json.Marshal(map[string]any{"spec": size})
	if err != nil {
		return err
	}
	// Only now: for a larger volume, the kubelet expands the mounted file system itself.
	if _, err := p.client.CoreV1().PersistentVolumes().Patch(ctx, claim.Spec.VolumeName, types.MergePatchType, volume, metav1.PatchOptions{}); err != nil {
		return err
	}
	size["conditions"] = nil
	return p.patchStatus(ctx, claim, size)
}

// expandable returns the class of a claim that requests more than it has, if it is one of ours that allows it.
func (p *provisioner) expandable(claim *corev1.PersistentVolumeClaim) (*storagev1.StorageClass, error) {
	request, capacity := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Spec.StorageClassName == nil || claim.Status.Phase != corev1.ClaimBound || claim.DeletionTimestamp != nil || request.Cmp(capacity) <= 0 {
		return nil, nil
	}
	class, err := p.classes.Get(*claim.Spec.StorageClassName)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || class.Provisioner != Name || !ptr.Deref(class.AllowVolumeExpansion, false) {
		return nil, err
	}
	return class, nil
}

// waitsForPod reports whether the pod that has a claim mounted is still the same, and sets the condition of a
// file system that waits for a new one.
func (p *provisioner) waitsForPod(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	pods, err := p.client.CoreV1().Pods(claim.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	now, was := mounts(pods.Items, claim.Name), claim.Annotations[mountedBy]
	if was != "" && now != "" && now != was {
		return false, p.annotate(ctx, claim, nil)
	}
	p.queue.AddAfter(claim.Namespace+"/"+claim.Name, time.Second)
	if was == "" && now != "" {
		if err := p.annotate(ctx, claim, now); err != nil {
			return true, err
		}
	}
	if slices.ContainsFunc(claim.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
		return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending
	}) {
		return true, nil
	}
	return true, p.patchStatus(ctx, claim, map[string]any{"conditions": []any{map[string]any{
		"type": corev1.PersistentVolumeClaimFileSystemResizePending, "status": "True", "message": "Waiting for user to (re-)start a pod to finish file system resize of volume on node.",
	}}})
}

// mounts returns the UID of the pod that mounts a claim and runs, empty for none.
func mounts(pods []corev1.Pod, claim string) string {
	for _, pod := range pods {
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim && pod.Status.Phase == corev1.PodRunning {
				return string(pod.UID)
			}
		}
	}
	return ""
}

// annotate records which pod has the claim mounted, nil for none.
func (p *provisioner) annotate(ctx context.Context, claim *corev1.PersistentVolumeClaim, pod any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{mountedBy: pod}}})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (p *provisioner) patchStatus(ctx context.Context, claim *corev1.PersistentVolumeClaim, status map[string]any) error {
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
