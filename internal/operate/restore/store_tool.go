// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// provider is one kind of store, with the commands of its own tool.
type provider struct {
	// names are those that an Etcd may have for it.
	names []string
	// put and remove return the arguments to copy a file into the store in place of an object, and to remove the object. list
	// returns those that print its name if it is there.
	put          func(container, object, file string) []string
	remove, list func(container, object string) []string
}

// providers are all stores but directories of the nodes.
var providers = []provider{
	{
		[]string{"S3", "aws"},
		func(c, o, file string) []string { return []string{"aws", "s3", "cp", file, "s3://" + c + "/" + o} },
		func(c, o string) []string { return []string{"aws", "s3", "rm", "s3://" + c + "/" + o} },
		func(c, o string) []string {
			return []string{"aws", "s3api", "list-objects-v2", "--bucket", c, "--prefix", o, "--query", "Contents[].Key", "--output", "text"}
		},
	},
	{
		[]string{"GCS", "gcp"},
		func(c, o, file string) []string {
			return []string{"gcloud", "storage", "cp", file, "gs://" + c + "/" + o}
		},
		func(c, o string) []string { return []string{"gcloud", "storage", "rm", "gs://" + c + "/" + o} },
		func(c, o string) []string { // with a pattern, nothing found is no error
			return []string{"gcloud", "storage", "objects", "list", "gs://" + c + "/" + o + "*", "--format=value(name)"}
		},
	},
	{
		[]string{"ABS", "azure"},
		func(c, o, file string) []string {
			return []string{"az", "storage", "blob", "upload", "--overwrite", "true", "--container-name", c, "--name", o, "--file", file}
		},
		func(c, o string) []string {
			return []string{"az", "storage", "blob", "delete", "--container-name", c, "--name", o}
		},
		func(c, o string) []string {
			return []string{"az", "storage", "blob", "list", "--container-name", c, "--prefix", o, "--query", "[].name", "--output", "tsv"}
		},
	},
	{
		[]string{"Swift", "openstack"},
		func(c, o, file string) []string { return []string{"swift", "upload", c, file, "--object-name", o} },
		func(c, o string) []string { return []string{"swift", "delete", c, o} },
		func(c, o string) []string { return []string{"swift", "list", c, "--prefix", o} },
	},
	{
		[]string{"OSS", "alicloud"},
		func(c, o, file string) []string {
			return []string{"ossutil", "cp", "--force", file, "oss://" + c + "/" + o}
		},
		func(c, o string) []string { return []string{"ossutil", "rm", "--force", "oss://" + c + "/" + o} },
		func(c, o string) []string { return []string{"ossutil", "ls", "oss://" + c + "/" + o} },
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

// removeObject returns the command of the provider's own tool that removes an object, which may not be there.
func removeObject(s *backupstore.Store, name string) step.Action {
	if p, ok := providerOf(s); ok {
		object := objectOf(s, name)
		return step.RemoveObject{Name: object, Remove: p.remove(s.Container, object), List: p.list(s.Container, object)}
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
