// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
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

// olderVolume reports whether a voter that doesn't answer may have data from before the log of those that answer, as
// the age of its volume shows.
func (f *Facts) olderVolume(l etcd.Listed) bool {
	if !f.mayPredate(l) || f.Claims.Err != nil {
		return false
	}
	v := observe.MemberVolumes{Claims: map[string][]*corev1.PersistentVolumeClaim{}, Restores: f.Owner.RestoredAt()}
	for _, pod := range append(pods(f.Responding()), f.podOf(l)) {
		v.Claims[pod] = f.dataClaimsOf(pod)
	}
	return f.Survey.Value.OlderVolume(l, f.podOf(l), v)
}

// mayPredate reports whether a voter doesn't answer, the leader receives nothing from it, and it has never started in
// their log.
func (f *Facts) mayPredate(l etcd.Listed) bool {
	return f.listKnown() && !f.Barred[f.podOf(l)] && f.Silences[l.ID].Contact < membership.ContactActive && f.Survey.Value.MayPredate(l, f.podOf(l))
}

// MayPredate reports whether the age of a volume may show that a voter has data from before the log of the others.
func (f *Facts) MayPredate() bool { return slices.ContainsFunc(f.Survey.Value.List, f.mayPredate) }

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
		switch {
		case f.predates(l):
			found = append(found, f.hasEarlier(l))
		case f.olderVolume(l):
			found = append(found, f.mayHaveEarlier(l))
		case f.mayPredate(l) && f.Claims.Err != nil:
			found = append(found, unknown("since when "+f.podOf(l)+" has its volume", f.Claims.Err))
		}
	}
	if len(found) > 0 {
		return found
	}
	return ok("no voter is known to have run before the data of the others began")
}

// hasEarlier returns the finding about a voter that ran before the members that answer began without data.
func (f *Facts) hasEarlier(l etcd.Listed) Finding {
	since, _ := f.runningSince(l.Pod)
	var revision int64
	for _, m := range f.Responding() {
		revision = max(revision, m.Revision)
	}
	one := about(Failure, l.Pod, f.Command("diagnose"),
		"%s began without data while %s ran: it has run for %s, has never started in their log, and only it can have the earlier data. They are at revision %d. Don't restart, replace or remove it",
		policy.List(pods(f.Responding())), l.Pod, format.Age(f.At.Sub(since)), revision)
	one.Reason = recovery.BeganWithoutData
	return one
}

// mayHaveEarlier returns the finding about a voter whose volume is older than those of the members that answer.
func (f *Facts) mayHaveEarlier(l etcd.Listed) Finding {
	pod := f.podOf(l)
	since, _ := f.volumeSince(pod)
	one := about(Warning, pod, f.Command("diagnose"),
		"it has never started in the log of %s, and its volume is older than theirs, from %s: it may have the earlier data, or the cluster was restored by hand since. Don't restart, replace or remove it before you have copied its data directory",
		policy.List(pods(f.Responding())), format.Time(since))
	one.Reason = recovery.BeganWithoutData
	return one
}

// DataLost reports whether the data of a member is known to be lost, or that of those with the quorum is, or may be.
func (f *Facts) DataLost() bool {
	return slices.ContainsFunc(f.Recovery().Members, func(m recovery.Member) bool {
		return m.Predates || m.OlderVolume || m.Asked && (m.Data == recovery.DataNone || m.Data == recovery.DataDamaged)
	})
}
