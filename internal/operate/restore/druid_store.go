// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// intoStore returns the steps that make the snapshot the last one in the store, before and after the members stop. From
// when it has its name there, a member that starts is restored from it, and the only member of a cluster deletes its present
// data for that.
func (r Plan) intoStore() (before []step.Step, put step.Step) {
	file := r.File
	switch dir := r.dir(); {
	case r.Bump > 0:
		file = dir + ".db"
		before = append(before, step.Step{
			ID: made, Title: "Raise the revision on this machine", Why: "It takes " + r.toolNote() + " backup-restore doesn't raise the revision. The hash is appended in the format of etcd.",
			Acts: append([]step.Action{step.RemoveDir{Dir: dir}, r.tool([]string{"--data-dir", dir}), r.same()}, withHash(dir+"/member/snap/db", file)...),
		})
	case !r.Snapshot.Hashed:
		file = dir + ".db"
		before = append(before, step.Step{
			ID: made, Title: "Append the hash on this machine", Why: "It has the format of etcd. backup-restore refuses a snapshot without a hash.", Acts: append(withHash(r.File, file), r.same()),
		})
	}
	var same []step.Action
	if file == r.File {
		same = append(same, r.same())
	}
	put = step.Step{
		ID: stored, Uses: []string{stopped}, Title: "Make it the last full snapshot in the backup store",
		Why: fmt.Sprintf("The one with the highest revision is restored. If the store has one above %d, set a higher --bump-revision. A member that starts now would replace its data with it.", r.restored()),
	}
	if r.Druid.StorePod == "" {
		put.Title, put.Uses = "Copy it into the backup store as the last full snapshot", []string{made, stopped}
		// An upload takes long, and another client may start members meanwhile.
		put.Acts = slices.Concat([]step.Action{r.noMember()}, same, []step.Action{
			upload(r.Druid.Store, file, r.storedName()),
			r.stillNoMember(),
		})
		return append(before, r.probeStore()...), put
	}
	put.Acts = r.nameOnNode()
	return append(before, step.Step{
		ID: uploaded, Uses: []string{made}, Title: "Copy it into the directory of the backup store",
		Why:  "The store is a directory of the nodes, which all of them must share. The copy doesn't have the name of a snapshot yet.",
		Acts: append(same, r.putOnNode(file)...),
	}), put
}

// stillNoMember returns the action that removes the snapshot from the store if a member runs by now.
func (r Plan) stillNoMember() step.Action {
	if _, ok := providerOf(r.Druid.Store); !ok {
		return r.noMember() // a person removes it
	}
	return step.OrElse{Act: r.noMember(), Else: removeObject(r.Druid.Store, r.storedName())}
}

// storedName returns the name of the snapshot in the store.
func (r Plan) storedName() string {
	return fmt.Sprintf("Full-00000000-%08d-%d", r.restored(), r.At.Unix())
}

// removeFromStore removes the snapshot from the store. Its revision is above that of the members, so a
// member that starts later would be restored from it.
func (r Plan) removeFromStore() step.Step {
	s := step.Step{Title: "Remove the snapshot from the backup store"}
	if r.Druid.StorePod == "" {
		s.Acts = []step.Action{removeObject(r.Druid.Store, r.storedName())}
		return s
	}
	s.Acts = append(r.startStorePod(), step.Exec{Pod: r.storePod(), Args: []string{"rm", "-f", r.partInStore(), r.inStore()}}, r.deleteStorePod())
	return s
}

// inStore returns the path of the snapshot in a store that is a directory of the nodes, and partInStore the one that it has
// before.
func (r Plan) inStore() string     { return r.Druid.StoreDir + "/" + r.storedName() }
func (r Plan) partInStore() string { return r.Druid.StoreDir + "/restore.part" }

// startStorePod starts the pod that mounts the store.
func (r Plan) startStorePod() []step.Action {
	return []step.Action{
		r.deleteStorePod(), // of an interrupted run
		step.CreatePod{Manifest: r.Druid.StorePod},
		step.Wait{Kind: step.Pod, Names: []string{r.storePod()}, For: step.Condition("Ready"), Timeout: 5 * time.Minute},
	}
}

// putOnNode returns the actions that copy a file into a directory of the nodes. Running
// sidecars read that directory, and take each file whose name begins like that of a snapshot
// for one.
func (r Plan) putOnNode(file string) []step.Action {
	part := step.CopyFile{From: file, Pod: r.storePod(), To: r.partInStore()}
	return append(r.startStorePod(), part, step.CompareFile(part), r.deleteStorePod())
}

// copyGone is the error if the copy in a directory of the nodes has neither name.
const copyGone = "another client removed the copy of the snapshot from the store, restore.part; end the restore with --abort, and begin again"

// nameOnNode returns the actions that give the copy the name of a snapshot, which an interrupted command may have done.
func (r Plan) nameOnNode() []step.Action {
	part, name := format.Quote(r.partInStore()), format.Quote(r.inStore())
	acts := append([]step.Action{r.noMember()}, r.startStorePod()...)
	return append(acts,
		r.noMember(), // the start of the pod may take minutes
		step.Exec{Pod: r.storePod(), Args: []string{"sh", "-c", fmt.Sprintf(`if test -e %[1]s; then mv %[1]s %[2]s; elif ! test -e %[2]s; then echo "%[3]s" >&2; false; fi`, part, name, copyGone)}},
		r.deleteStorePod(),
	)
}

// deleteStorePod deletes the pod that mounts the store.
func (r Plan) deleteStorePod() step.Action {
	return r.deleteHelpers(r.storePod())
}

// withHash returns the actions that make a snapshot of a database.
func withHash(database, file string) []step.Action {
	return []step.Action{step.AppendHash{Database: database, Snapshot: file}, step.CheckSnapshot{File: file}}
}
