// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// storedName matches the name that etcd-backup-restore gives to a snapshot: its kind, the first and the last revision, and
// when it was taken, in seconds.
var storedName = regexp.MustCompile(`^(?:Full|Incr)-\d+-\d+-(\d{9,11})(?:\.|$)`)

// taken describes when the snapshot was taken, for the user: by its record, or by its name. A file shows at most until
// when it was written, and a copy not even that.
func (r Plan) taken() string {
	if at := r.Origin.Taken; !at.IsZero() {
		return "was taken at " + r.ago(at)
	}
	if at, found := timeInName(cmp.Or(r.Given, r.File)); found {
		return fmt.Sprintf("was taken at %s, as its name has it", r.ago(at))
	}
	if at := r.Snapshot.Modified; !at.IsZero() && (r.Given == "" || r.Given == r.File) {
		return fmt.Sprintf("it is not known when it was taken: the file was last written at %s", r.ago(at))
	}
	return "it is not known when it was taken"
}

func (r Plan) ago(at time.Time) string {
	return fmt.Sprintf("%s, %s ago", format.Time(at), format.Since(r.At, at))
}

// timeInName returns when a snapshot of etcd-backup-restore was taken, by its path or URL.
func timeInName(given string) (at time.Time, found bool) {
	name, _ := progress.GivenName(given)
	match := storedName.FindStringSubmatch(path.Base(name))
	if match == nil {
		return at, false
	}
	seconds, err := strconv.ParseInt(match[1], 10, 64)
	return time.Unix(seconds, 0), err == nil
}
