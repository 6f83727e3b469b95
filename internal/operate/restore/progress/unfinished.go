// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// Commands returns the command that continues the unfinished restore of a journal, and the one that undoes it, without
// the flag for the namespace. Either is empty if it would be refused. If only a scale is left, they are commands of it.
func Commands(o owner.Owner, j *journal.Journal) (resume, abort string) {
	if j.ScaleTo > 0 {
		if abort = fmt.Sprintf("kubectl etcd scale %s --abort", o.Target()); o.Unmanaged() {
			resume = fmt.Sprintf("kubectl etcd scale %s --replicas %d", o.Target(), j.ScaleTo)
		}
		return resume, abort
	}
	var of struct{ Undo, Final bool }
	known := json.Unmarshal(j.Payload, &of) == nil
	file, _ := snapshotOf(j)
	target := o.Target().String()
	resume, abort = "kubectl etcd snapshot restore "+file+" "+target, "kubectl etcd snapshot restore "+target+" --abort"
	switch {
	case known && of.Undo:
		resume = ""
	case known && of.Final:
		abort = ""
	}
	return resume, abort
}

// SnapshotOf returns which snapshot continues an unfinished restore, if its command alone doesn't show it: the file is
// not recorded, or it was stdin, or its URL had parameters. It is empty for any other operation, and for a restore that
// is being undone, or of which only a scale is left.
func SnapshotOf(j *journal.Journal) string {
	var of struct{ Undo bool }
	if j.Kind != journal.KindRestore || j.ScaleTo > 0 || json.Unmarshal(j.Payload, &of) == nil && of.Undo {
		return ""
	}
	_, explained := snapshotOf(j)
	return explained
}

// snapshotOf returns the argument that names the snapshot of an unfinished restore in a command of a shell, and what
// the command alone doesn't show. Every user who may write ConfigMaps may have written the journal, so the argument is
// never a flag, and has no characters that a terminal doesn't print.
func snapshotOf(j *journal.Journal) (argument, explained string) {
	var of struct {
		SHA256, File string
		Parameters   bool
	}
	if json.Unmarshal(j.Payload, &of) != nil {
		return "FILE", ""
	}
	sum := ""
	if of.SHA256 != "" {
		sum = fmt.Sprintf(" with SHA-256 %s", format.PrintableLine(of.SHA256))
	}
	switch {
	case of.File == "" || of.File != format.PrintableLine(of.File):
		if sum == "" {
			return "FILE", ""
		}
		return "FILE", "FILE is the snapshot" + sum
	case of.File == "-":
		return "-", "stdin is the snapshot" + sum
	case of.Parameters:
		return format.Quote(of.File + "?PARAMETERS"), "PARAMETERS are those of the URL that the restore began with"
	case strings.HasPrefix(of.File, "-"):
		return format.Quote("./" + of.File), ""
	}
	return format.Quote(of.File), ""
}
