// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

// Write is a client's write of a StatefulSet.
type Write struct {
	// Now and Asked are the replicas before and after it.
	Now, Asked int
	// Template is true if it changes the pod template.
	Template bool
	// Outdated is true if, before it, pods have another template than the newest.
	Outdated bool
	// Before and After are the strategies before it and as written.
	Before, After Value
	// Held is true if the rollout was held before, and Author is then the author's partition.
	Held   bool
	Author int
}

// Admission is what becomes of a write.
type Admission struct {
	// Held is false for a write that passes as it is, and ends a hold.
	Held bool
	// Value is the strategy that the StatefulSet gets.
	Value Value
	// Author is the partition that its author chose.
	Author int
	// Begins is true if the hold begins with this write.
	Begins bool
}

// Admit returns what becomes of a write. It only ever holds. The controller does the steps of the
// rollout, one at a time, by facts that it reads itself.
func Admit(w Write) Admission {
	author := w.After
	// A client that changes something else leaves the strategy as it was set.
	if w.Held && w.After == w.Before {
		author = Value{Partition: w.Author}
	}
	if author.OnDelete {
		return Admission{}
	}
	keep := max(author.Partition, min(w.Now, w.Asked))
	switch {
	case (w.Template || !w.Held && w.restarts()) && keep == author.Partition:
		return Admission{} // the author holds all pods
	case w.Template, !w.Held && w.restarts():
		return Admission{Held: true, Value: Value{Partition: keep}, Author: author.Partition, Begins: true}
	case !w.Held:
		return Admission{}
	case w.Before.OnDelete:
		return Admission{Held: true, Value: w.Before, Author: author.Partition}
	}
	return Admission{Held: true, Value: Value{Partition: max(w.Before.Partition, author.Partition)}, Author: author.Partition}
}

// restarts reports whether pods restart by the new strategy that did not by the one before.
func (w Write) restarts() bool {
	return w.Outdated && (w.Before.OnDelete || w.After.Partition < w.Before.Partition)
}
