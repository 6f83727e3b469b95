// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdlog

import (
	"slices"
	"strings"
)

// fatalLogMessages are messages that etcd logs before it exits because its data is not the member's,
// or can't be read. A restart doesn't help.
var fatalLogMessages = []string{
	"has already been bootstrapped",
	"permanently removed from the cluster",
	"member count is unequal",
	"couldn't find local name",
	"crc mismatch",
	"failed to find database snapshot file",
	"failed to recover v3 backend from snapshot",
	"snap: ",
	"wal: ",
	"tocommit(",
	"database file size",
	"invalid database",
	"file size too small",
	"freepages: failed to get",
}

// withoutData are those of an etcd that found no data in its data directory, and so wanted to begin.
var withoutData = []string{"has already been bootstrapped", "member count is unequal", "couldn't find local name"}

// Evidence returns the fatal message of a log with what it proves, empty for none. etcd also finds no data where it
// may not read it.
func (e End) Evidence() string {
	if signalLine.MatchString(e.Fatal) {
		return e.Fatal + " (" + unreadableDatabase + ")"
	}
	if slices.ContainsFunc(withoutData, func(text string) bool { return strings.Contains(e.Fatal, text) }) {
		return e.Fatal + " (it found no data in its data directory: the data is lost, or its user can't read it, or the pod template names another directory)"
	}
	return e.Fatal
}
