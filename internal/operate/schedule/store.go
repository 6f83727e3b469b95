// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// caDir and credentialsDir are where a run has the authorities of the store, and the file of its credentials.
const (
	caDir          = "/etc/kubectl-etcd/store-ca"
	credentialsDir = "/etc/kubectl-etcd/store-credentials" //nolint:gosec // a path
)

// storeAccess gives a container what it needs of the store, and returns the volumes for it.
func (b builder) storeAccess(c *corev1.Container) []corev1.Volume {
	var volumes []corev1.Volume
	mount := func(name, path string, readOnly bool, from corev1.VolumeSource) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: readOnly})
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: from})
	}
	switch {
	case b.Secret == "":
	case strings.HasPrefix(b.To.Folder, "gs://"): // Google's libraries read a file
		mount("credentials", credentialsDir, true, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: b.Secret}})
		c.Env = []corev1.EnvVar{{Name: "GOOGLE_APPLICATION_CREDENTIALS", Value: credentialsDir + "/credentials.json"}}
	default:
		c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: b.Secret}}}}
	}
	if b.Claim != "" {
		mount("store", b.To.Prefix(), false, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: b.Claim}})
	}
	if b.CA != "" {
		mount("store-ca", caDir, true, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: b.CA}}})
	}
	return volumes
}
