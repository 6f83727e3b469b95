// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// memberLists are the member list that a quorum agrees on and the lists of single members.
type memberLists struct {
	etcd.Survey

	own map[string][]etcd.Listed
}

// MemberList returns the member lists as output. own has the list of each single member by pod.
// pods are the pods of members, by ordinal.
func MemberList(id v1alpha1.ClusterIdentity, s etcd.Survey, own map[string][]etcd.Listed, pods []string) *v1alpha1.EtcdMemberList {
	r := memberLists{Survey: s, own: own}
	out := &v1alpha1.EtcdMemberList{Cluster: id, Items: []v1alpha1.EtcdMember{}}
	list := r.List
	switch {
	case len(list) > 0:
		out.Authority = v1alpha1.AuthorityQuorum
	default:
		if list = r.mostAdvanced(); len(list) > 0 {
			out.Authority = v1alpha1.AuthorityMember
		}
	}
	for _, m := range r.Members {
		switch {
		case m.Err != nil:
			out.Unseen = append(out.Unseen, v1alpha1.Unseen{What: m.Pod, Why: etcd.Reason(m.Err)})
		case out.ClusterID == "":
			out.ClusterID = etcd.FormatID(m.ClusterID)
		}
	}
	for _, l := range list {
		out.Items = append(out.Items, r.entry(l, pods))
	}
	for _, pod := range pods {
		if !slices.ContainsFunc(out.Items, func(m v1alpha1.EtcdMember) bool { return m.Pod == pod }) && len(list) > 0 {
			out.Items = append(out.Items, v1alpha1.EtcdMember{Pod: pod, Note: "this pod is not a member"})
		}
	}
	order := func(m v1alpha1.EtcdMember) int {
		if at := slices.Index(pods, m.Pod); at >= 0 {
			return at
		}
		return len(pods)
	}
	slices.SortStableFunc(out.Items, func(a, b v1alpha1.EtcdMember) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	out.Disagreements = r.disagreements(list, pods)
	return out
}

// mostAdvanced returns the list of the member that has applied the most entries.
func (r memberLists) mostAdvanced() []etcd.Listed {
	var list []etcd.Listed
	var applied uint64
	for _, m := range r.Members {
		if own := r.own[m.Pod]; len(own) > 0 && (list == nil || m.RaftApplied > applied) {
			list, applied = own, m.RaftApplied
		}
	}
	return list
}

func (r memberLists) entry(l etcd.Listed, pods []string) v1alpha1.EtcdMember {
	m := v1alpha1.EtcdMember{
		Pod: l.Pod, ID: etcd.FormatID(l.ID), Name: l.Name, Started: l.Name != "",
		PeerURLs: l.PeerURLs, ClientURLs: l.ClientURLs,
	}
	at := slices.IndexFunc(r.Members, func(s etcd.Member) bool { return s.ID == l.ID })
	other, elsewhere := r.Other(l.ID)
	m.Role = roleName(l.Learner, at >= 0 && r.Members[at].Leader || other.Leader)
	if m.Pod == "" && at >= 0 {
		m.Pod = r.Members[at].Pod
	}
	switch {
	case elsewhere:
		m.Note = "no pod of this cluster runs it, and pod " + other.Pod + " answers as it"
	case !slices.Contains(pods, m.Pod):
		m.Pod = ""
		m.Note = "no pod of this cluster runs it"
	case !m.Started:
		m.Note = "added, but not started yet"
	}
	return m
}

// disagreements returns the members whose own list differs from the given one.
func (r memberLists) disagreements(list []etcd.Listed, pods []string) []v1alpha1.Disagreement {
	var out []v1alpha1.Disagreement
	var first uint64
	for _, m := range r.Members {
		if m.ClusterID != 0 && first == 0 {
			first = m.ClusterID
		}
		if m.ClusterID != 0 && m.ClusterID != first {
			out = append(out, v1alpha1.Disagreement{Pod: m.Pod, Message: fmt.Sprintf("it is a member of another cluster, %s", etcd.FormatID(m.ClusterID))})
		}
	}
	for _, pod := range pods {
		own, known := r.own[pod]
		if !known {
			continue
		}
		if diff := difference(list, own); diff != "" {
			out = append(out, v1alpha1.Disagreement{Pod: pod, Message: diff})
		}
	}
	return out
}

// difference returns how a member's own list differs. It is empty if the lists are equal.
func difference(list, own []etcd.Listed) string {
	var parts []string
	for _, l := range list {
		at := slices.IndexFunc(own, func(o etcd.Listed) bool { return o.ID == l.ID })
		switch {
		case at < 0:
			parts = append(parts, "it lacks "+nameOf(l))
		case own[at].Learner != l.Learner:
			parts = append(parts, fmt.Sprintf("it has %s as a %s", nameOf(l), strings.ToLower(roleName(own[at].Learner, false))))
		case !slices.Equal(own[at].PeerURLs, l.PeerURLs):
			parts = append(parts, fmt.Sprintf("it has %s at %s", nameOf(l), strings.Join(own[at].PeerURLs, ",")))
		}
	}
	for _, o := range own {
		if !slices.ContainsFunc(list, func(l etcd.Listed) bool { return l.ID == o.ID }) {
			parts = append(parts, "it still has "+nameOf(o))
		}
	}
	return strings.Join(parts, "; ")
}

func nameOf(l etcd.Listed) string {
	if l.Name == "" {
		return etcd.FormatID(l.ID)
	}
	return l.Name + " (" + etcd.FormatID(l.ID) + ")"
}
