// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// notReady returns the voters, except that of a pod, that don't follow the leader. A member that could not
// be asked is not one of them.
func (f *Facts) notReady(except string) []string {
	v := f.voters()
	var names []string
	for _, l := range f.Survey.Value.List {
		unasked := slices.ContainsFunc(v.notAsked, func(m etcd.Member) bool { return m.Pod == l.Pod })
		if name := f.listedName(l); !l.Learner && (l.Pod == "" || l.Pod != except && !unasked) && !slices.Contains(v.following, name) {
			names = append(names, name)
		}
	}
	return names
}

// listedName returns the pod of a member of the list, of whichever workload, or its name where no pod runs it.
func (f *Facts) listedName(l etcd.Listed) string {
	other, _ := f.Survey.Value.Other(l.ID)
	return cmp.Or(l.Pod, other.Pod, called(l))
}

func (f *Facts) hasLearner() bool {
	return slices.ContainsFunc(f.Survey.Value.List, func(l etcd.Listed) bool { return l.Learner })
}

// continues returns the command that continues or ends an unfinished operation of this program, empty if
// there is none. Until then, other changes are refused. A restore that has changed no data is ended while the quorum
// holds: to continue it would replace data that is well.
func (f *Facts) continues() string {
	if f.Unstopped && f.listKnown() {
		return f.undoes()
	}
	return f.resumes()
}

// resumes returns the command that continues an unfinished operation, or that ends it if nothing continues it.
func (f *Facts) resumes() string {
	if u := f.UnderWay.Value; u != nil && len(u.Commands) > 0 {
		return u.Commands[0]
	}
	return ""
}

// undoes returns the command that undoes an unfinished operation that can be undone.
func (f *Facts) undoes() string {
	if u := f.UnderWay.Value; u != nil && len(u.Commands) > 0 {
		return u.Commands[len(u.Commands)-1]
	}
	return ""
}

// orContinue returns a command that is refused while an operation is unfinished: then it is the command
// that continues.
func (f *Facts) orContinue(command string) string { return cmp.Or(f.continues(), command) }

// restoreTraffic returns the command that restores client traffic, or how to end the operation that does so at its end.
func (f *Facts) restoreTraffic() string {
	how := f.Command("restore-client-traffic")
	if !f.KeepsClientsAway {
		return how
	}
	return f.orContinue("once the operation that is under way has ended, " + how)
}

// ofPod reports whether a member of the list has a pod of the cluster, or its address.
func (f *Facts) ofPod(l etcd.Listed) bool {
	return l.Pod != "" || slices.ContainsFunc(l.Hosts(), func(host string) bool { return f.Owner.Ordinal(host) >= 0 })
}

// onceReady returns a command that is accepted only while every member is a voter and well, with what must
// be so first.
func (f *Facts) onceReady(command string) string {
	if first := f.continues(); first != "" {
		return first
	}
	switch v := policy.Precondition(f.Cluster.Value.Cluster, ""); {
	case f.hasLearner() || len(f.notReady("")) > 0 || f.Survey.Err == nil && !f.listKnown():
		return "once all members are voters and healthy, " + command
	case f.UnderWay.Value != nil && !f.UnderWay.Value.Interrupted:
		return "once the change that is under way has ended, " + command
	case f.Cluster.Err != nil || v.Allowed:
		return command
	case v.Reason == policy.ClientTrafficCut:
		return "once client traffic is restored, " + command
	case v.Reason == policy.OperationUnderWay:
		return "once the change that is under way has ended, " + command
	case v.Reason == policy.BackupFailing:
		return "once backups succeed, " + command
	}
	return "once all members are voters and healthy, " + command
}

// defrag returns how to defragment all members. It frees space also while backups fail or clients are cut off.
func (f *Facts) defrag() string {
	command := f.Command("defrag")
	if first := f.continues(); first != "" {
		return first
	}
	full := slices.Contains(f.Survey.Value.StrayTypes(), maintenance.NoSpace) ||
		slices.ContainsFunc(f.Survey.Value.Members, func(m etcd.Member) bool { return slices.Contains(m.Alarms, maintenance.NoSpace) })
	if full && !f.hasLearner() && len(f.notReady("")) == 0 {
		return command
	}
	return f.onceReady(command)
}
