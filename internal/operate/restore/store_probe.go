// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import "github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"

// probeObject is the name of the object with which a restore tries the store. Sidecars don't take it for a snapshot. One that
// an interrupted command leaves there is replaced by the next restore.
const probeObject = "restore.probe"

// probeStore returns the step that tries, while all members still run, what the restore and its undoing do in a store
// after that: a tool that can't write, or can't remove, would be found after the members have stopped. A store that only a
// person reaches has none.
func (r Plan) probeStore() []step.Step {
	s := r.Druid.Store
	p, ok := providerOf(s)
	if !ok {
		return nil
	}
	object := objectOf(s, probeObject)
	return []step.Step{{
		ID: probed, Title: "Try to write into the backup store, and to remove from it", Why: "It takes your own permissions for the store. The object doesn't have the name of a snapshot.",
		Acts: []step.Action{
			step.WriteFile{File: r.probeFile(), Text: "a restore tries the store"},
			step.Program{Lines: [][]string{p.put(s.Container, object, r.probeFile())}},
			step.Program{Lines: [][]string{p.remove(s.Container, object)}},
			step.RemoveDir{Dir: r.probeFile()},
		},
	}}
}

// probeFile is the file on this machine that is copied into the store.
func (r Plan) probeFile() string { return r.dir() + ".probe" }
