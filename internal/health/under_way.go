// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// describeUnderWay says who does what to the cluster with this program, or what
// was begun and not ended.
func describeUnderWay(s Observation) *v1alpha1.UnderWay {
	u := s.underWay
	if u.Change == nil && u.Holder.Identity == "" {
		return nil
	}
	out := &v1alpha1.UnderWay{
		Operation: u.Holder.Operation, Since: timeOf(u.Holder.Since), Holder: u.Holder.Identity, Renewed: timeOf(u.Holder.Renewed),
		Reason: u.Holder.Reason, Interrupted: !u.Alive(s.At),
	}
	if j := u.Change; j != nil {
		out.Operation, out.Change, out.Since = j.Verb(), j.Summary(s.Owner), timeOf(j.Journal.Began)
		if j.Undo {
			out.Change = "take back: " + out.Change
		}
		if out.Reason == "" {
			out.Reason = j.Journal.Reason
		}
		ns := " -n " + s.Owner.Namespace
		if out.Interrupted {
			out.Commands = append(out.Commands, j.Resume(s.Owner)+ns)
		}
		if out.Interrupted && !j.Undo {
			out.Commands = append(out.Commands, j.Abort(s.Owner)+ns)
		}
	}
	return out
}

// UnderWayText is an operation for people.
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
		text += ", interrupted: nobody is at it"
	case u.Interrupted && u.Renewed != nil:
		text += fmt.Sprintf(", interrupted: %s has not been heard of for %s", u.Holder, format.Since(now, u.Renewed.Time))
	case u.Interrupted:
		text += ", interrupted: " + u.Holder + " is not heard of"
	default:
		text += ", by " + u.Holder
	}
	if u.Reason != "" {
		text += "; " + u.Reason
	}
	return text
}
