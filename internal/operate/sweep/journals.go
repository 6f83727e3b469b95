// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// findJournals returns all journals.
func (v *view) findJournals(ctx context.Context) ([]Item, error) {
	all, err := journal.List(ctx, v.Kube, v.namespace)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range all {
		items = append(items, v.journalItem(ctx, &all[at]))
	}
	return items, nil
}

func (v *view) journalItem(ctx context.Context, l *journal.Listed) Item {
	namespace := l.ConfigMap.Namespace
	i := Item{Resource: "configmaps", Cluster: l.StatefulSet, object: &l.ConfigMap, names: []string{l.StatefulSet}}
	var sts appsv1.StatefulSet
	exists := v.exists(ctx, "statefulsets.apps", namespace, l.StatefulSet, &sts)
	if exists == rules.Yes {
		i.Owner = v.ownerOf(ctx, &sts)
	}
	i.Facts.Locked = v.locked(ctx, namespace, locksOf(i.Owner, l.StatefulSet)...)
	if l.Err != nil {
		v.unsure(fmt.Sprintf("journal %s/%s", namespace, l.ConfigMap.Name), l.Err)
		return i // what it is about is not known
	}
	i.Since, i.journal = l.Journal.Began, l.Journal
	i.Facts.Cluster, i.Facts.Replaced, i.Facts.Aside = exists, rules.No, restore.MayHaveSetAside(l.Journal)
	switch {
	case exists == rules.Unknown || l.Journal.Object == "":
		i.Facts.Replaced = rules.Unknown
	case exists == rules.Yes:
		i.Facts.Replaced = rules.Of(sts.UID != l.Journal.Object)
	}
	return i
}

// oldDataWays returns how to find the data that a restore has set aside, and how to delete its journal.
func oldDataWays(i *Item, flags string) []string {
	return []string{
		"search the volume of each member, beside its data directory, for " + restore.AsideName(i.journal) + ": the data from before the restore, if it was renamed",
		fmt.Sprintf("kubectl delete configmap %s -n %s%s, when none of that is needed", i.Name, i.Namespace, flags),
	}
}

// ownerOf returns the cluster of a StatefulSet, nil if it runs no etcd or that is not known.
func (v *view) ownerOf(ctx context.Context, sts *appsv1.StatefulSet) *owner.Owner {
	o, found, err := v.Reader.OwnerOfStatefulSet(ctx, sts)
	if err != nil {
		v.unsure("the cluster of StatefulSet "+sts.Namespace+"/"+sts.Name, err)
	}
	if err != nil || !found {
		return nil
	}
	return &o
}

// journalWays returns the commands that continue and undo an unfinished operation. For one that a later
// version began, they are not known.
func (v *view) journalWays(ctx context.Context, i *Item) []string {
	if i.Owner == nil {
		return nil
	}
	under, err := membership.ReadUnderWay(ctx, v.Kube, *i.Owner)
	var commands, ways []string
	switch {
	case under.Other != nil:
		if explained := progress.SnapshotOf(under.Other); explained != "" {
			i.Result.Message += "; " + explained
		}
		commands = membership.CommandsOf(*i.Owner, under.Other)
	case err == nil && under.Change != nil:
		commands = under.Change.Commands(*i.Owner)
	}
	for _, command := range commands {
		ways = append(ways, v.inNamespace(command, i))
	}
	return ways
}

// inNamespace completes a command for an item.
func (v *view) inNamespace(command string, i *Item) string {
	return command + " -n " + i.Namespace + v.Flags + v.Login
}
