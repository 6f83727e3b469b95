// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// misaddressed returns the members whose peer URLs in etcd's list are known not to lead to their pods.
func (f *Facts) misaddressed() []etcd.Listed {
	var all []etcd.Listed
	for _, l := range f.Survey.Value.List {
		if got := f.PeerURLs[l.ID]; f.listKnown() && got.Err == nil && len(got.Value.Wrong) > 0 {
			all = append(all, l)
		}
	}
	return all
}

// misaddressedNames returns the voters of misaddressed, as the recovery rule names them. A learner is not updated.
func (f *Facts) misaddressedNames() []string {
	var names []string
	for _, l := range f.misaddressed() {
		if !l.Learner {
			names = append(names, cmp.Or(f.podOf(l), f.nameOf(l)))
		}
	}
	return names
}

func peerURLsLead(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.misaddressed() {
		lead, level := f.PeerURLs[l.ID].Value, Warning
		if f.operation() != "" {
			level = Info
		}
		found = append(found, about(level, f.listedName(l), f.peerURLCure(l), "the peer URL %s in etcd's list does not lead to its pod, which advertises %s: %s. When the current connections end, the others can't connect to it again",
			strings.Join(l.PeerURLs, ","), strings.Join(lead.Advertised, ","), strings.Join(lead.Wrong, "; ")))
	}
	if len(found) > 0 {
		return found
	}
	if len(f.Survey.Value.List) < 2 {
		return notApplicable("no other member connects to the only one")
	}
	return ok("%s", policy.Count(len(f.Survey.Value.List), "member"))
}

// peerURLCure returns how to set the peer URLs of a member in etcd's list to those that its pod advertises. It is only asked
// for where these are known to lead to the pod.
func (f *Facts) peerURLCure(l etcd.Listed) string {
	command := fmt.Sprintf("%s -- etcdctl member update %s --peer-urls=%s", f.Command("proxy"), id(l), format.Quote(strings.Join(f.PeerURLs[l.ID].Value.Advertised, ",")))
	w := f.Owner.Membership()
	switch {
	case f.continues() != "":
		return f.continues()
	case f.operation() != "":
		return "once the change that is under way has ended, " + command
	case l.Learner: // an update would make etcd count it as a voter
		return "promote or remove this learner, since an update would make it a voter in etcd's list: " + f.Command("member list")
	case w.CorrectsPeerURLs && l.Pod != "":
		return w.ManagerName + " corrects it when the pod restarts: " + f.onceReady(f.Command("restart", "--member "+l.Pod))
	case w.Manager == flavour.ByOperator || w.Manager == flavour.ByStartScript:
		return "unless " + w.ManagerName + " corrects it: " + command
	}
	return command
}
