// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// UnderWay is a change by this program that runs now, or that is unfinished. The zero UnderWay is
// nothing.
type UnderWay struct {
	// Change is an unfinished change of members, nil for none.
	Change *Change
	// Other is the journal of an unfinished restart or restore, nil for none.
	Other *journal.Journal
	// Holder is the holder of the cluster's lock. Its Identity is empty for none.
	Holder lock.Holder
}

// ReadUnderWay reads both. Where the journal can't be read it returns an error, and what is known.
func ReadUnderWay(ctx context.Context, kube client.Reader, o owner.Owner) (UnderWay, error) {
	var u UnderWay
	var err error
	if u.Holder, err = lock.ReadHolder(ctx, kube, o); err != nil {
		return u, fmt.Errorf("read the lock of %s: %w", o, err)
	}
	if !journal.CanExist(o) {
		return u, nil
	}
	kept, err := journal.Read(ctx, kube, o)
	if err != nil {
		return u, err
	}
	if kept != nil && !kept.OfMembers() {
		u.Other = kept
		return u, nil
	}
	u.Change, err = changeOf(o, kept)
	return u, err
}

// Concerns reports whether the operation may be about a member of etcd's list, which has so many
// members: one of a pod that the StatefulSet has or may get. The operation stops at any other member,
// and continues when that is removed.
func (u UnderWay) Concerns(o owner.Owner, l etcd.Listed, members int) bool {
	ordinals := max(int(o.Replicas), members)
	switch {
	case u.Change != nil:
		ordinals = max(ordinals, u.Change.Target, u.Change.Replicas)
	case u.Other == nil:
		return false
	}
	return l.Pod != "" || slices.ContainsFunc(l.Hosts(), func(host string) bool {
		at := o.Ordinal(host)
		return at >= 0 && at < ordinals
	})
}

// CommandsOf returns the commands that end an unfinished restart or restore, without the flag for the namespace:
// the one that continues it, unless it is being undone, and the one that undoes it, unless nothing does any more. A
// word that progress.SnapshotOf explains is for the user to replace.
func CommandsOf(o owner.Owner, j *journal.Journal) []string {
	resume, abort := commandsOf(o, j)
	return slices.DeleteFunc([]string{resume, abort}, func(c string) bool { return c == "" })
}

// commandsOf returns the command that continues an operation, and the one that undoes it. Either is empty if it would
// be refused.
func commandsOf(o owner.Owner, j *journal.Journal) (resume, abort string) {
	if j.Kind == journal.KindRestore {
		return progress.Commands(o, j)
	}
	return restart.Commands(o, j)
}

// CutsTraffic reports whether an operation runs or is unfinished that keeps clients away until its end.
func (u UnderWay) CutsTraffic() bool { return u.Other != nil && CutsTraffic(u.Other) }

// CutsTraffic reports whether the operation of a journal may cut client traffic until its end: a restore, or a
// coordinated restart. A restore of which only a scale is left has let clients in.
func CutsTraffic(j *journal.Journal) bool {
	return j.Kind == journal.KindRestore && j.ScaleTo == 0 || restart.CutsTraffic(j)
}

// Summary returns the operation as text: "scale from 1 to 3 members".
func (j *Change) Summary(o owner.Owner) string {
	if j.Operation == membership.Replace {
		return "replace the member of " + o.PodName(j.Ordinal)
	}
	return fmt.Sprintf("scale from %d to %s", j.Replicas, policy.Count(j.Target, "member"))
}

// Resume returns the command that resumes the operation, without the flag for the namespace.
func (j *Change) Resume(o owner.Owner) string {
	if j.Undo {
		return j.Abort(o)
	}
	if j.Operation == membership.Replace {
		return fmt.Sprintf("kubectl etcd member replace %s %s", o.Target(), o.PodName(j.Ordinal))
	}
	return fmt.Sprintf("kubectl etcd scale %s --replicas %d", o.Target(), j.Target)
}

// Continuable returns an error if the operation can only be undone: something else manages the
// members by now, so that both could change them.
func (j *Change) Continuable(o owner.Owner) error {
	m := o.Membership()
	if j.Undo || m.Manager == flavour.Unmanaged {
		return nil
	}
	return &operate.RefusedError{What: "continue the unfinished " + j.Verb() + " of " + o.String(), Why: []string{
		fmt.Sprintf("%s adds and removes its members now: undo it with %s -n %s", m.ManagerName, j.Abort(o), o.Namespace),
	}}
}

// Commands returns the commands that end the operation, without the flag for the namespace: the one
// that continues it, if any can, and the one that undoes it.
func (j *Change) Commands(o owner.Owner) []string {
	if j.Undo || j.Continuable(o) != nil {
		return []string{j.Abort(o)}
	}
	return []string{j.Resume(o), j.Abort(o)}
}

// Abort returns the command that undoes the operation.
func (j *Change) Abort(o owner.Owner) string {
	if j.Operation == membership.Replace {
		return fmt.Sprintf("kubectl etcd member replace %s %s --abort", o.Target(), o.PodName(j.Ordinal))
	}
	return fmt.Sprintf("kubectl etcd scale %s --abort", o.Target())
}
