// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
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
		put.Acts = slices.Concat([]step.Action{r.noMember()}, same, []step.Action{upload(r.Druid.Store, file, r.storedName())})
		return before, put
	}
	put.Acts = r.nameOnNode()
	return append(before, step.Step{
		ID: uploaded, Uses: []string{made}, Title: "Copy it into the directory of the backup store",
		Why:  "The store is a directory of the nodes, which all of them must share. The copy doesn't have the name of a snapshot yet.",
		Acts: append(same, r.putOnNode(file)...),
	}), put
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

// nameOnNode returns the actions that give the copy the name of a snapshot, which an interrupted command may have done.
func (r Plan) nameOnNode() []step.Action {
	part, name := format.Quote(r.partInStore()), format.Quote(r.inStore())
	acts := append([]step.Action{r.noMember()}, r.startStorePod()...)
	return append(acts,
		step.Exec{Pod: r.storePod(), Args: []string{"sh", "-c", fmt.Sprintf("if test -e %[1]s; then mv %[1]s %[2]s; else test -e %[2]s; fi", part, name)}},
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

// provider is one kind of store, with the commands of its own tool.
type provider struct {
	// names are those that an Etcd may have for it.
	names []string
	// put and remove return the arguments to copy a file into the store, and to remove an object.
	put    func(container, object, file string) []string
	remove func(container, object string) []string
}

// providers are all stores but directories of the nodes.
var providers = []provider{
	{
		[]string{"S3", "aws"},
		func(c, o, file string) []string { return []string{"aws", "s3", "cp", file, "s3://" + c + "/" + o} },
		func(c, o string) []string { return []string{"aws", "s3", "rm", "s3://" + c + "/" + o} },
	},
	{
		[]string{"GCS", "gcp"},
		func(c, o, file string) []string {
			return []string{"gcloud", "storage", "cp", file, "gs://" + c + "/" + o}
		},
		func(c, o string) []string { return []string{"gcloud", "storage", "rm", "gs://" + c + "/" + o} },
	},
	{
		[]string{"ABS", "azure"},
		func(c, o, file string) []string {
			return []string{"az", "storage", "blob", "upload", "--container-name", c, "--name", o, "--file", file}
		},
		func(c, o string) []string {
			return []string{"az", "storage", "blob", "delete", "--container-name", c, "--name", o}
		},
	},
	{
		[]string{"Swift", "openstack"},
		func(c, o, file string) []string { return []string{"swift", "upload", c, file, "--object-name", o} },
		func(c, o string) []string { return []string{"swift", "delete", c, o} },
	},
	{
		[]string{"OSS", "alicloud"},
		func(c, o, file string) []string { return []string{"ossutil", "cp", file, "oss://" + c + "/" + o} },
		func(c, o string) []string { return []string{"ossutil", "rm", "oss://" + c + "/" + o} },
	},
}

// providerOf returns the provider of a store, or false for a directory of the nodes.
func providerOf(s *backupstore.Store) (provider, bool) {
	i := slices.IndexFunc(providers, func(p provider) bool { return slices.Contains(p.names, s.Provider) })
	if i < 0 {
		return provider{}, false
	}
	return providers[i], true
}

// objectOf returns where backup-restore has a snapshot.
func objectOf(s *backupstore.Store, name string) string { return s.Prefix + "/v2/" + name }

// removeObject returns the command of the provider's own tool that removes an object.
func removeObject(s *backupstore.Store, name string) step.Action {
	if p, ok := providerOf(s); ok {
		return step.Program{Lines: [][]string{p.remove(s.Container, objectOf(s, name))}}
	}
	return byHand("rm %s    # provider %s: below the directory that its nodes mount", format.Quote("THE-STORE/"+s.Container+"/"+objectOf(s, name)), s.Provider)
}

// upload returns the command of the provider's own tool that copies a file into the store.
func upload(s *backupstore.Store, file, name string) step.Action {
	if p, ok := providerOf(s); ok {
		return step.Program{Lines: [][]string{p.put(s.Container, objectOf(s, name), file)}}
	}
	return byHand("cp %s %s    # provider %s: below the directory that its nodes mount; owned by the pods' user",
		format.Quote(file), format.Quote("THE-STORE/"+s.Container+"/"+objectOf(s, name)), s.Provider)
}

// byHand returns a step for a person. Users who may write the Etcd may have written the names in it, and a shell
// may run the printed plan: they end no line.
func byHand(text string, args ...any) step.Action {
	return step.ByHand{Text: format.PrintableLine(fmt.Sprintf(text, args...))}
}
