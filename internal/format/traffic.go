// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// CutText is a cut with its end, "cut 14m more", or with how long it has been over without
// anybody restoring the traffic.
func CutText(t v1alpha1.Traffic, now time.Time) string {
	switch {
	case t.Until == nil:
		return "cut"
	case t.Until.After(now):
		return "cut " + duration.HumanDuration(t.Until.Sub(now)) + " more"
	case t.Until.Unix() == 0:
		return "cut, to be restored"
	}
	return "cut, overdue " + Since(now, t.Until.Time)
}
