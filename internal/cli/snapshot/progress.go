// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// progressReporter reports the progress of a snapshot on stderr.
type progressReporter struct {
	console *ui.Console
	bar     *ui.Progress
	// shown is the number of bytes that the bar has counted.
	shown int64
}

func (r *progressReporter) begin(m etcd.Member, total int64) {
	r.console.Notef("Saving %s of %s (%s, etcd %s)", policy.Bytes(total), m.Pod, roleOf(m), m.Version)
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

func roleOf(m etcd.Member) string {
	switch {
	case m.Leader:
		return "leader"
	case m.Learner:
		return "learner"
	}
	return "follower"
}
