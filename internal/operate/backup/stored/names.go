// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Names are the names of a cluster's snapshots in a store: NAMESPACE.NAME.UID-20260131T120000Z.db. The UID is that
// of its Etcd or StatefulSet: clusters of the same name in two Kubernetes clusters may have one store. Without
// a UID, and in earlier releases, the names have none: NAMESPACE.NAME-20260131T120000Z.db.
type Names struct{ Namespace, Name, UID string }

// NamesOf returns the names of a cluster's snapshots.
func NamesOf(o owner.Owner) Names {
	return Names{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
}

const (
	nameTime   = "20060102T150405Z"
	nameSuffix = ".db"
)

// Prefix begins every new name.
func (n Names) Prefix() string {
	if n.UID == "" {
		return n.earlier()
	}
	return n.Namespace + "." + n.Name + "." + n.UID + "-"
}

// earlier begins the names without a UID. The dot after the namespace is unique, because a namespace contains none.
func (n Names) earlier() string { return n.Namespace + "." + n.Name + "-" }

// Prefixes begin all names, the new form first.
func (n Names) Prefixes() []string {
	if n.UID == "" {
		return []string{n.earlier()}
	}
	return []string{n.Prefix(), n.earlier()}
}

// Every returns the beginnings of all names of clusters with this namespace and name, whatever their UIDs are.
func (n Names) Every() []string { return []string{n.Namespace + "." + n.Name + ".", n.earlier()} }

// uid is the form of the UIDs of objects. Other text there can be a part of a longer name, which has dots.
var uid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Other returns the UID in the name of a snapshot of another cluster with this namespace and name: its StatefulSet or
// Etcd was deleted since, or is in another Kubernetes cluster. It is empty for every other name.
func (n Names) Other(name string) string {
	rest, named := strings.CutPrefix(name, n.Namespace+"."+n.Name+".")
	of := rest[:max(strings.LastIndex(rest, "-"), 0)]
	if !named || n.UID == "" || of == n.UID || !uid.MatchString(of) {
		return ""
	}
	if _, snapshot := (Names{n.Namespace, n.Name, of}).Time(name); !snapshot {
		return ""
	}
	return of
}

// NotDeleted describes snapshots of another cluster with this namespace and name, which nothing deletes, and how to delete them.
func (n Names) NotDeleted(count int, of string) string {
	return fmt.Sprintf("%d snapshots are of another %s/%s, with UID %s: an earlier one, or one of another Kubernetes cluster. They are kept. To delete them, delete the objects whose names begin with %s, with the tools of the store",
		count, n.Namespace, n.Name, of, Names{n.Namespace, n.Name, of}.Prefix())
}

// At returns the name of the snapshot of a time.
func (n Names) At(t time.Time) string { return n.Prefix() + t.UTC().Format(nameTime) + nameSuffix } //nolint:forbidigo // a file name

// Time returns the time in a name of either form, or false for the name of anything else.
func (n Names) Time(name string) (time.Time, bool) {
	for _, prefix := range n.Prefixes() {
		rest, ours := strings.CutPrefix(name, prefix)
		text, snapshot := strings.CutSuffix(rest, nameSuffix)
		t, err := time.Parse(nameTime, text)
		if ours && snapshot && err == nil && t.Format(nameTime) == text { //nolint:forbidigo // a file name
			return t, true
		}
	}
	return time.Time{}, false
}
