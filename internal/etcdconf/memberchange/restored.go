// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// Restored returns the lists of members that a command of a container gives to etcd's data, by a restore of a snapshot
// with --initial-cluster.
func Restored(argv []string, around script.Surroundings) []string {
	w := walk{around: around, left: script.MaxBytes}
	w.args(argv)
	return w.restored
}

// restores records the list of members of a command that restores a snapshot. Its program may be etcdutl or etcdctl by any
// name.
func (w *walk) restores(args []string) {
	snapshot := slices.Index(args, "snapshot")
	if snapshot < 0 {
		return
	}
	args = args[snapshot:]
	restore := slices.Index(args, "restore")
	if restore < 0 {
		return
	}
	for i, word := range args {
		value, assigned := strings.CutPrefix(word, listFlag+"=")
		if word == listFlag && i+1 < len(args) {
			value, assigned = args[i+1], true
		}
		if assigned {
			w.restored = append(w.restored, value)
		}
	}
}

// listFlag is the flag with the list of members.
const listFlag = "--initial-cluster"
