// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import "fmt"

// NotRestorable returns why kubectl etcd restores no data into the present members, and what does instead, empty if nothing
// that stays as it is rules that out. hasStore is whether a cluster whose sidecars restore its members has a backup store.
func (o Owner) NotRestorable(hasStore bool) string {
	const byHand = "restore the snapshot into one of them by hand, and add the other members to it"
	switch {
	case o.Product().RestoresElsewhere != "":
		return "it can't be restored in place: " + o.Product().RestoresElsewhere
	case o.WithoutStatefulSet():
		return "it has no StatefulSet; restore the snapshot with the program that created its pods"
	case len(o.PodsBeside) > 0:
		return fmt.Sprintf("its members are those of %s, and a plan restores one StatefulSet; %s", o.WorkloadNames(), byHand)
	case o.Spans():
		return fmt.Sprintf("its members are those of StatefulSets %s, and a plan restores one StatefulSet; %s", o.WorkloadNames(), byHand)
	case o.Product().BackupRestore && !hasStore:
		return "it has no backup store (spec.backup.store), and its sidecars restore from nothing else; configure one first"
	}
	return ""
}
