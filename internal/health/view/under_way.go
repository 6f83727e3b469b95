// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// UnderWayText describes an operation for people.
func UnderWayText(u *v1alpha1.UnderWay, now time.Time) string {
	if u == nil {
		return ""
	}
	text := "kubectl etcd " + u.Operation
	if u.Change != "" {
		text += " (" + u.Change + ")"
	}
	if u.Since != nil {
		text += ", begun " + format.Since(now, u.Since.Time) + " ago"
	}
	switch {
	case u.Holder == "":
		text += ", interrupted: no process works on it"
	case u.Interrupted && u.Renewed != nil:
		text += fmt.Sprintf(", interrupted: %s has not renewed its lock for %s", u.Holder, format.Since(now, u.Renewed.Time))
	case u.Interrupted:
		text += ", interrupted: " + u.Holder + " does not renew its lock"
	default:
		text += ", by " + u.Holder
	}
	if u.Reason != "" {
		text += "; " + u.Reason
	}
	if u.Snapshot != "" {
		text += "; " + u.Snapshot
	}
	return text
}
