// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// voters are the voters of a cluster as the members that answer describe them.
type voters struct {
	// total counts the voters in the member list. Without a list it is the size of the
	// cluster.
	total int
	// leader is the ID of the member that most members follow, 0 for none.
	leader uint64
	// following are the voters that answer and follow the leader, in whichever pod, and those without a pod
	// of the cluster from which the leader receives messages.
	following []string
	// noAnswer are the members that don't answer. notAsked are those that could not be
	// asked, because a permission or a certificate is missing.
	noAnswer, notAsked []etcd.Member
	// elsewhere are the voters that no pod of the cluster runs and that may run elsewhere. They were not
	// asked either.
	elsewhere []string
	// unmatched counts the voters that only the lists of pods show: see owner.Owner. It is 0 if a member shows its list.
	unmatched int
	// older is how many of total only the lists of pods show.
	older int
	// leaderAnswers is true where the leader itself answers.
	leaderAnswers bool
}

// sure returns the voters without those that only the lists of pods show, which may be from before members were replaced.
func (v voters) sure() int { return v.total - v.older }

func (v voters) quorum() int { return policy.Quorum(v.total) }

// slack returns how many more voters may fail.
func (v voters) slack() int { return len(v.following) - v.quorum() }

// ledElsewhere reports whether those that answer follow a leader that doesn't. A member
// drops its leader within an election timeout, so that leader has a quorum now, and it is
// this machine that can't reach the others.
func (v voters) ledElsewhere() bool { return v.leader != 0 && !v.leaderAnswers }

// unknown counts the voters of which it is not known whether they are healthy.
func (v voters) unknown() int { return len(v.notAsked) + len(v.elsewhere) + v.unmatched }

func (f *Facts) voters() voters {
	s := f.Survey.Value
	v := voters{leader: s.Followed()}
	learners := 0
	v.leaderAnswers = slices.ContainsFunc(s.Answers(), func(m etcd.Member) bool { return m.ID == v.leader })
	for _, m := range s.Members {
		switch {
		case m.Err != nil && f.Barred[m.Pod]:
			v.notAsked = append(v.notAsked, m)
		case m.Err != nil:
			v.noAnswer = append(v.noAnswer, m)
		case m.Learner:
			learners++
		case s.Healthy(m):
			v.following = append(v.following, m.Pod)
		}
	}
	f.listedVoters(&v)
	if !f.listKnown() {
		v.total = max(f.Size(), f.Cluster.Value.Cluster.Size, len(s.Members)-learners, f.LastVoters)
		if f.LastVoters == 0 {
			v.unmatched = f.Owner.Unmatched
			most := max(v.total, f.Size()+v.unmatched)
			v.older, v.total = most-v.total, most
		}
	}
	return v
}

// listedVoters counts the voters of etcd's list, also those that no pod of this cluster runs.
func (f *Facts) listedVoters(v *voters) {
	for _, l := range f.Survey.Value.List {
		if l.Learner {
			continue
		}
		v.total++
		other, answers := f.Survey.Value.Other(l.ID)
		switch {
		case answers && f.Survey.Value.Healthy(other):
			v.following = append(v.following, other.Pod)
		case l.Pod == "" && f.Silences[l.ID].Contact >= membership.ContactActive:
			v.following = append(v.following, called(l))
		case f.mayRunElsewhere(l, v.leader):
			v.elsewhere = append(v.elsewhere, called(l))
		}
	}
}

// mayRunElsewhere reports whether a member of the list may run where this cluster has no pods, and the leader
// doesn't show whether it is healthy: a pod of the namespace may be it, or the leader itself runs elsewhere.
// Members that do not name all others in their lists are several clusters to Kubernetes, and one to etcd.
func (f *Facts) mayRunElsewhere(l etcd.Listed, leader uint64) bool {
	s, read := f.Silences[l.ID]
	return read && f.withoutWorkload(l) && s.Stopped == "" && s.Contact == membership.ContactUnknown &&
		(len(s.Elsewhere) > 0 || slices.ContainsFunc(f.Survey.Value.List, func(o etcd.Listed) bool { return o.ID == leader && f.withoutWorkload(o) }))
}

// withoutWorkload reports whether no pod of the cluster runs a member of the list, or will run it again.
func (f *Facts) withoutWorkload(l etcd.Listed) bool {
	return l.Pod == "" && l.DuePod(f.Owner, f.Survey.Value.List) == ""
}

// listKnown reports whether a member gave the member list.
func (f *Facts) listKnown() bool {
	return f.Survey.Err == nil && f.Survey.Value.ListErr == nil && len(f.Survey.Value.List) > 0
}

// Quorum counts the voters. Where a member answers, its healthy voters answer and follow
// the common leader. Else they are the members that Kubernetes shows as ready, and each
// member counts as a voter, because Kubernetes doesn't know learners.
func (f *Facts) Quorum() output.Quorum {
	v := f.voters()
	q := output.Quorum{Voters: v.total, Healthy: len(v.following), FromEtcd: f.listKnown()}
	q.Unknown = len(v.elsewhere)
	if c := f.Cluster.Value.Cluster; len(f.Responding()) == 0 {
		q.Voters, q.Healthy = max(c.Size, f.Size()+f.Owner.Unmatched), c.UpVoters()
		q.Unknown = min(c.Elsewhere+f.Owner.Unmatched, max(0, q.Voters-len(c.Members)))
	}
	if q.Voters > 0 {
		q.Needed = policy.Quorum(q.Voters)
		q.Slack = q.Healthy - q.Needed
	}
	return q
}

// MemberCount counts the members that Kubernetes shows, whether or not members answer, so that list, status and the
// metrics count alike. Quorum has what etcd shows.
func (f *Facts) MemberCount() output.MemberCount {
	return output.MemberCount{Desired: f.Size(), Ready: f.Cluster.Value.Cluster.UpVoters()}
}

// Responding returns the members that answered.
func (f *Facts) Responding() []etcd.Member {
	return slices.DeleteFunc(slices.Clone(f.Survey.Value.Members), func(m etcd.Member) bool { return m.Err != nil })
}

// ClusterIDs returns the pods by the ID of the etcd cluster that their members report.
func (f *Facts) ClusterIDs() map[uint64][]string {
	ids := map[uint64][]string{}
	for _, m := range f.Survey.Value.Members {
		if m.ClusterID != 0 {
			ids[m.ClusterID] = append(ids[m.ClusterID], m.Pod)
		}
	}
	return ids
}

// Clusters counts the etcd clusters that the members belong to. Several can share one cluster ID.
func (f *Facts) Clusters() int { return max(len(f.ClusterIDs()), len(f.Survey.Value.Apart)) }

// membersReachable guards a check that judges the members' answers. Where there is no
// answer, it returns false and the finding that explains why.
func (f *Facts) membersReachable() ([]Finding, bool) {
	switch {
	case f.Survey.Err != nil:
		why := unanswered("the members could not be asked", f.Survey.Err)
		why.repeated = true
		return []Finding{why}, false
	case len(f.Survey.Value.Members) == 0 && f.Size() == 0:
		return notApplicable("the cluster is scaled to 0"), false
	case len(f.Responding()) == 0:
		return []Finding{{Level: Unknown, Message: "no member answers", repeated: true}}, false
	}
	return nil, true
}

// evidence returns the error of the first kind of object that shows whether members run and
// that could not be read, nil where all could.
func (f *Facts) evidence() error {
	all := []error{f.Pods.Err, f.StatefulSet.Err, f.Cluster.Err}
	if f.Owner.Product().RenewsLeases {
		all = append(all, f.Leases.Err)
	}
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// readyInKubernetes reports whether Kubernetes shows the member of a pod as ready.
func (f *Facts) readyInKubernetes(pod string) bool {
	return f.evidence() == nil && slices.ContainsFunc(f.Cluster.Value.Cluster.Members, func(m policy.Member) bool {
		return m.Pod == pod && m.Ready && m.PodReady
	})
}

// leaseExpired reports whether a pod is Ready and its member gave no sign of life, as its
// lease or the time since its start shows.
func (f *Facts) leaseExpired(pod string) bool {
	return f.evidence() == nil && slices.ContainsFunc(f.Cluster.Value.Cluster.Members, func(m policy.Member) bool {
		return m.Pod == pod && !m.Ready && m.PodReady
	})
}

// nodeLost returns why the node of a pod shows that its member is not to be counted on, empty if it doesn't.
func (f *Facts) nodeLost(pod string) string {
	for _, m := range f.Cluster.Value.Cluster.Members {
		if m.Pod == pod && f.evidence() == nil {
			return m.NodeLost
		}
	}
	return ""
}

func pods(members []etcd.Member) []string {
	names := make([]string, 0, len(members))
	for _, m := range members {
		names = append(names, m.Pod)
	}
	return names
}
