// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
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

// RanLonger is how much longer than the others a member must have run, or have had its volume, to be from before their log
// began.
const RanLonger = 5 * time.Minute

// RestoreTime is how long a restore takes at most: for so long it keeps clients away.
const RestoreTime = 2 * time.Hour

// RestoredAt returns when the restores of the cluster began that keep old data.
func (o Owner) RestoredAt() []time.Time {
	var all []time.Time
	for _, k := range annotation.ParseKeptData(o.Annotations[v1alpha1.KeptDataAnnotation]) {
		all = append(all, k.At)
	}
	return all
}
