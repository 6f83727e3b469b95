// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// cutText returns a cut with its end, "cut 14m more", or with the time since its end if no one
// has restored the traffic.
func cutText(t v1alpha1.Traffic, now time.Time) string {
	switch {
	case t.Until == nil:
		return "cut"
	case t.Until.After(now):
		return "cut " + format.Since(t.Until.Time, now) + " more"
	case t.Until.Unix() == 0:
		return "cut, to be restored"
	}
	return "cut, overdue " + format.Since(now, t.Until.Time)
}
