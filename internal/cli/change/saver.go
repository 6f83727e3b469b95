// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// NewSaver returns what saves a snapshot of the first of some members that can provide it. It shows the
// progress. A transfer without data for idle is tried again, so many times.
func NewSaver(a *app.App, c *app.Cluster, members []etcd.Member, retries int, idle time.Duration) *backup.Saver {
	progress := progressReporter{console: a.Console}
	s := &backup.Saver{Owner: c.Owner, Members: members, Started: a.Clock.Now(), End: progress.end}
	s.Fetch = snapshot.Saver{
		Retries: retries, Idle: idle,
		Begin:    func(pod string, total int64) { progress.begin(s.Member(pod), total) },
		Progress: progress.progress, Verifying: progress.verifying, Again: progress.retrying,
	}
	for _, m := range members {
		s.Fetch.Sources = append(s.Fetch.Sources, c.Members.SnapshotSource(m.Pod))
	}
	return s
}

// Defaults of the saver: how often a failed transfer is tried again, and the time without data after which it
// has failed.
const (
	SaveRetries = 2
	SaveIdle    = snapshot.DefaultIdle
)

// progressReporter reports the progress of a snapshot on stderr.
type progressReporter struct {
	console *ui.Console
	bar     *ui.Progress
	// shown is the number of bytes that the bar has counted.
	shown int64
}

func (r *progressReporter) begin(m etcd.Member, total int64) {
	r.console.Notef("Saving %s of %s (%s, etcd %s)", policy.Bytes(total), m.Pod, m.Role(), m.Version)
	r.bar, r.shown = r.console.NewProgress("snapshot", total), 0
}

func (r *progressReporter) progress(done int64) {
	r.bar.Add(done - r.shown)
	r.shown = done
}

func (r *progressReporter) verifying() {
	r.end()
	r.console.Notef("Checking the database")
}

func (r *progressReporter) retrying(_ string, err error) {
	r.end()
	r.console.Warn("%v. Trying again.", err)
}

func (r *progressReporter) end() {
	if r.bar != nil {
		r.bar.Finish()
		r.bar = nil
	}
}
