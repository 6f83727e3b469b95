// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// predates reports whether a voter that doesn't answer ran before the log of those that answer began. What can't be
// read is no evidence.
func (f *Facts) predates(l etcd.Listed) bool {
	return f.listKnown() && !f.Barred[l.Pod] && f.Silences[l.ID].Contact < membership.ContactActive && f.Survey.Value.Predates(l, f.runningSince)
}

// runningSince returns since when the etcd of a pod runs.
func (f *Facts) runningSince(name string) (time.Time, bool) {
	pod := f.pod(name)
	if pod == nil {
		return time.Time{}, false
	}
	c := etcdContainer(pod)
	if c == nil {
		return time.Time{}, false
	}
	return podstate.ContainerSince(pod, c.Name)
}

// dataBefore returns a check: the members with the quorum have the data from before.
func dataBefore(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	if f.Pods.Err != nil {
		return []Finding{unknown("since when each member runs", f.Pods.Err)}
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		if !f.predates(l) {
			continue
		}
		since, _ := f.runningSince(l.Pod)
		var revision int64
		for _, m := range f.Responding() {
			revision = max(revision, m.Revision)
		}
		one := about(Failure, l.Pod, f.Command("diagnose"),
			"%s began without data while %s ran: it has run for %s, has never started in their log, and only it can have the earlier data. They are at revision %d. Don't restart, replace or remove it",
			policy.List(pods(f.Responding())), l.Pod, format.Age(f.At.Sub(since)), revision)
		one.Reason = recovery.BeganWithoutData
		found = append(found, one)
	}
	if len(found) > 0 {
		return found
	}
	return ok("no voter is known to have run before the data of the others began")
}

// DataLost reports whether the data of a member is known to be lost, or that of those with the quorum.
func (f *Facts) DataLost() bool {
	return slices.ContainsFunc(f.Recovery().Members, func(m recovery.Member) bool {
		return m.Predates || m.Asked && (m.Data == recovery.DataNone || m.Data == recovery.DataDamaged)
	})
}
