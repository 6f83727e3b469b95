// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// operations reads the operation of this program that is under way or was interrupted.
// A journal that can't be read is an error, because something may be half done.
func (g *gatherer) operations(ctx context.Context) {
	u, err := membership.ReadUnderWay(ctx, g.Reader, g.Owner)
	g.UnderWay, g.KeepsClientsAway = got(underWay(g.Facts, u), err), u.CutsTraffic()
	g.Unrecorded = err == nil && u.Change == nil && u.Other == nil
	out := g.UnderWay.Value
	all := commands(g.Facts, u)
	if out == nil || len(all) == 0 {
		return
	}
	if out.Interrupted {
		out.Commands = all
	} else {
		g.Continuing = all
	}
	var sts appsv1.StatefulSet
	if g.Reader.Get(ctx, client.ObjectKey{Namespace: g.Owner.Namespace, Name: g.Owner.StatefulSet}, &sts) != nil {
		return // it may be the same StatefulSet, with members that were stopped
	}
	g.Unstopped = u.Other != nil && len(out.Commands) > 1 && restore.Unstopped(u.Other, &sts)
	if replaced(u, &sts) {
		g.Replaced, g.SetsAside, g.Continuing = true, u.Other != nil && restore.MayHaveSetAside(u.Other), nil
		remove := "--remove "
		if g.SetsAside {
			remove = "" // the journal alone has the name of the old data
		}
		if !out.Interrupted {
			return // its program stops when it sees that
		}
		out.Commands = []string{"kubectl etcd sweep " + remove + "-n " + g.Owner.Namespace + g.Facts.Flags}
	}
}

// replaced reports whether the StatefulSet was created again since an operation began, which can be neither continued
// nor undone then. It returns false if that is not known.
func replaced(u membership.UnderWay, sts *appsv1.StatefulSet) bool {
	j := u.Other
	if u.Change != nil {
		j = u.Change.Journal()
	}
	return j != nil && j.Object != "" && j.Object != sts.UID
}

func underWay(f *health.Facts, u membership.UnderWay) *output.UnderWay {
	if u.Change == nil && u.Other == nil && u.Holder.Identity == "" {
		return nil
	}
	out := &output.UnderWay{
		Operation: u.Holder.Operation, Since: output.TimeOf(u.Holder.Since), Holder: u.Holder.Identity, Renewed: output.TimeOf(u.Holder.Renewed),
		Reason: u.Holder.Reason, Interrupted: !u.Holder.SeemsAlive(f.At),
	}
	if out.Operation == "" {
		out.Operation = "operation"
	}
	j := u.Change
	if u.Other != nil {
		describeOther(u, out)
		return out
	}
	if j == nil {
		return out
	}
	out.Operation, out.Change, out.Since = j.Verb(), j.Summary(f.Owner), output.TimeOf(j.Journal().Began)
	if j.Undo {
		out.Change = "undo: " + out.Change
	}
	if out.Reason == "" {
		out.Reason = j.Journal().Reason
	}
	return out
}

// commands returns the commands that continue and undo an operation with a journal.
func commands(f *health.Facts, u membership.UnderWay) []string {
	var all []string
	switch {
	case u.Change != nil:
		all = u.Change.Commands(f.Owner)
	case u.Other != nil:
		all = membership.CommandsOf(f.Owner, u.Other)
	}
	for i := range all {
		all[i] += " -n " + f.Owner.Namespace + f.Flags + f.Login
	}
	return all
}

// describeOther describes a restart or a restore that is under way or was interrupted.
func describeOther(u membership.UnderWay, out *output.UnderWay) {
	j := u.Other
	out.Operation, out.Since, out.Reason = j.Kind, output.TimeOf(j.Began), cmp.Or(out.Reason, j.Reason)
	out.Snapshot = progress.SnapshotOf(j)
	if j.ScaleTo > 0 {
		out.Change = fmt.Sprintf("scale to %s after the restore", policy.Count(j.ScaleTo, "member"))
	}
}
