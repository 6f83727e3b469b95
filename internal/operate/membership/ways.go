// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// Unfinished returns that an operation is unfinished, since when, and the ways to end it. what describes the operation.
func Unfinished(what string, j *journal.Journal, ways string) string {
	return fmt.Sprintf("%s has been unfinished since %s: %s", what, format.Time(j.Began), ways)
}

// UnfinishedOther returns what is unfinished and how to end it, for a journal of a restart or a restore.
func UnfinishedOther(o owner.Owner, j *journal.Journal) string {
	if j.ScaleTo > 0 {
		return fmt.Sprintf("kubectl etcd %s, begun %s, has ended, and members are still to be added: %s", j.Kind, format.Time(j.Began), WaysOf(o, j))
	}
	return Unfinished("kubectl etcd "+j.Kind, j, WaysOf(o, j))
}

// WaysOf returns how to end an unfinished restart or restore.
func WaysOf(o owner.Owner, j *journal.Journal) string {
	resume, abort := commandsOf(o, j)
	switch m := o.Membership(); {
	case j.ScaleTo > 0 && resume == "":
		return fmt.Sprintf("%s adds its members, %d in all: %s. When it has, run %s -n %s", m.ManagerName, j.ScaleTo, m.ScaleHow, abort, o.Namespace)
	case j.ScaleTo > 0:
		return fmt.Sprintf("add them with %[1]s -n %[3]s, or leave them out with %[2]s -n %[3]s", resume, abort, o.Namespace)
	case resume == "":
		return fmt.Sprintf("it is being undone: continue that with %s -n %s", abort, o.Namespace)
	}
	ways := way("continue", resume, o)
	if abort != "" {
		ways += ", or " + way("end", abort, o)
	}
	if explained := progress.SnapshotOf(j); explained != "" {
		ways += "; " + explained
	}
	return ways
}

// Ways returns how to end an unfinished change of members.
func (j *Change) Ways(o owner.Owner) string {
	var ways []string
	for _, command := range j.Commands(o) {
		does := "continue"
		if command == j.Abort(o) && !j.Undo {
			does = "undo"
		}
		ways = append(ways, way(does, command, o))
	}
	return strings.Join(ways, ", or ")
}

// way returns what a command does to an unfinished operation.
func way(does, command string, o owner.Owner) string {
	return fmt.Sprintf("%s it with %s -n %s", does, command, o.Namespace)
}
