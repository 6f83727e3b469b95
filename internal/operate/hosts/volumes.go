// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Volumes returns the PersistentVolumes of claims, without those that don't exist. unread are the ones that the user
// may not read.
func Volumes(ctx context.Context, kube client.Reader, namespace string, claims []string) (volumes []*corev1.PersistentVolume, unread []string, err error) {
	for _, name := range claims {
		var claim corev1.PersistentVolumeClaim
		err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &claim)
		if apierrors.IsNotFound(err) || err == nil && claim.Spec.VolumeName == "" {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read PersistentVolumeClaim %s: %w", name, err)
		}
		volume := &corev1.PersistentVolume{}
		err = kube.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume)
		switch {
		case apierrors.IsNotFound(err):
		case apierrors.IsForbidden(err):
			unread = append(unread, claim.Spec.VolumeName)
		case err != nil:
			return nil, nil, fmt.Errorf("read PersistentVolume %s: %w", claim.Spec.VolumeName, err)
		default:
			volumes = append(volumes, volume)
		}
	}
	return volumes, unread, nil
}
