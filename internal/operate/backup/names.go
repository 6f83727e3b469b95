// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"strings"
	"time"
)

// Names are the names of a cluster's snapshots in a store: NAMESPACE.NAME-20260131T120000Z.db. The dot
// makes them unique, because a namespace contains none.
type Names struct{ Namespace, Name string }

const (
	nameTime   = "20060102T150405Z"
	nameSuffix = ".db"
)

// Prefix begins every name.
func (n Names) Prefix() string { return n.Namespace + "." + n.Name + "-" }

// At returns the name of the snapshot of a time.
func (n Names) At(t time.Time) string { return n.Prefix() + t.UTC().Format(nameTime) + nameSuffix }

// Time returns the time in a name, or false for the name of anything else.
func (n Names) Time(name string) (time.Time, bool) {
	rest, ours := strings.CutPrefix(name, n.Prefix())
	text, snapshot := strings.CutSuffix(rest, nameSuffix)
	t, err := time.Parse(nameTime, text)
	return t, ours && snapshot && err == nil && n.At(t) == name
}
