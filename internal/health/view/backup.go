// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// LatestBackup returns the time of the last snapshot of any kind, zero for none.
func LatestBackup(b v1alpha1.Backup) time.Time {
	var latest time.Time
	if b.Full != nil {
		latest = b.Full.Time
	}
	if b.Delta != nil && b.Delta.After(latest) {
		latest = b.Delta.Time
	}
	if b.Last != nil && b.Last.After(latest) {
		latest = b.Last.Time
	}
	return latest
}
