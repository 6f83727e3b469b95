// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// VolumeSince returns when the newest of a pod's volume claims was created, and false for none.
func VolumeSince(claims []*corev1.PersistentVolumeClaim) (newest time.Time, found bool) {
	for _, c := range claims {
		if at := c.CreationTimestamp.Time; at.After(newest) {
			newest, found = at, true
		}
	}
	return newest, found
}
