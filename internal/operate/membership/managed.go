// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// mayScale returns a *operate.RefusedError if something else adds and removes the members of a cluster.
func mayScale(o owner.Owner) error {
	return refuseManaged(o, "scale "+o.String(), "adds and removes its members", o.Membership().ScaleHow)
}

// mayReplace returns a *operate.RefusedError if something else manages the members of a cluster.
func mayReplace(o owner.Owner, pod string) error {
	return refuseManaged(o, fmt.Sprintf("replace %s of %s", pod, o), "manages the members", o.Membership().ReplaceHow)
}

// refuseManaged refuses an operation on a cluster whose members something else manages. does is what it does with them,
// and instead is the way by which it is asked for that.
func refuseManaged(o owner.Owner, what, does, instead string) error {
	if o.Unmanaged() {
		return nil
	}
	return &operate.RefusedError{What: what, Why: []string{fmt.Sprintf("%s %s; %s", o.Membership().ManagerName, does, instead)}}
}

// ContinuesScale returns a *operate.RefusedError if a scale to so many members can't continue an unfinished change, or
// if no scale can undo it. keepClaims is what the command asks for: a scale-in that began without it deletes claims.
func (j *Change) ContinuesScale(o owner.Owner, replicas int, keepClaims, abort bool) error {
	what := ""
	switch {
	case j.Operation == membership.ScaleIn && keepClaims && !j.KeepClaims && !abort && !j.Undo && j.Target == replicas:
		return operate.Refuse("the unfinished scale of %s to %s began without --keep-pvc, so it deletes the claims of the members that it removes: undo it with --abort, and scale again with --keep-pvc, or leave the flag out to continue it",
			o, policy.Count(j.Target, "member"))
	case j.Operation == membership.Replace:
		what = "the replacement of " + o.PodName(j.Ordinal)
	case !abort && !j.Undo && j.Target != replicas:
		what = fmt.Sprintf("a scale of %s to %s", o, policy.Count(j.Target, "member"))
	default:
		return nil
	}
	return operate.Refuse("%s", Unfinished(what, j.Journal(), j.Ways(o)))
}
