// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"strings"
	"time"
)

// Names are the names of a cluster's snapshots in a store: NAMESPACE.NAME.UID-20260131T120000Z.db. The UID is that
// of its Etcd or StatefulSet: clusters of the same name in two Kubernetes clusters may have one store. Without
// a UID, and in earlier releases, the names have none: NAMESPACE.NAME-20260131T120000Z.db.
type Names struct{ Namespace, Name, UID string }

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

// At returns the name of the snapshot of a time.
func (n Names) At(t time.Time) string { return n.Prefix() + t.UTC().Format(nameTime) + nameSuffix }

// Time returns the time in a name of either form, or false for the name of anything else.
func (n Names) Time(name string) (time.Time, bool) {
	for _, prefix := range n.Prefixes() {
		rest, ours := strings.CutPrefix(name, prefix)
		text, snapshot := strings.CutSuffix(rest, nameSuffix)
		t, err := time.Parse(nameTime, text)
		if ours && snapshot && err == nil && t.Format(nameTime) == text {
			return t, true
		}
	}
	return time.Time{}, false
}
