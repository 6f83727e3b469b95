// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package view builds what status, check, list and diagnose print from the facts and findings of package
// health. It reads nothing and judges nothing.
package view

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// UnseenMembers stands for all members where none was asked.
const UnseenMembers = "members"

// StatusOf returns the status of a cluster from its facts.
func StatusOf(f *health.Facts) *v1alpha1.EtcdClusterStatus {
	cluster := f.Cluster.Value.Cluster
	st := &v1alpha1.EtcdClusterStatus{
		Time: metav1.NewTime(f.At), Cluster: health.IdentityOf(f.Owner),
		Replicas: f.MemberCount(), Quorum: f.Quorum(),
		Members: describeMembers(f), Operation: cluster.Operation, UnderWay: f.UnderWay.Value,
		Spread: describeSpread(f), Budget: describeBudget(f),
		Backup: f.Backup.Value, Traffic: f.Traffic(), Events: describeEvents(f), Unseen: slices.Clone(f.Unseen),
	}
	for _, c := range f.Conditions.Value {
		st.Conditions = append(st.Conditions, v1alpha1.StatusCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
			Since: v1alpha1.TimeOf(c.Since), Confirmed: v1alpha1.TimeOf(c.Confirmed), Bad: c.Bad,
		})
	}
	describeEtcd(f, st)
	if f.Survey.Err != nil {
		st.Unseen = append(st.Unseen, v1alpha1.Unseen{What: UnseenMembers, Why: etcd.Reason(f.Survey.Err)})
	}
	if f.Owner.Replicas <= 0 && len(f.Pods.Value) == 0 && !f.StoppedHalfWay() {
		st.Health = v1alpha1.Hibernated
		st.Next = nextCommands(f, nil)
		return st
	}
	findings := health.StatusFindings(f)
	st.Problems, st.Health, st.Next = problems(findings), health.Of(f, findings), nextCommands(f, findings)
	return st
}

// describeEtcd sets what the members report of the whole cluster.
func describeEtcd(f *health.Facts, st *v1alpha1.EtcdClusterStatus) {
	if f.Clusters() > 1 {
		return // the answers are about different clusters
	}
	for _, m := range f.Responding() {
		st.ClusterID = etcd.FormatID(m.ClusterID)
		st.RaftTerm = max(st.RaftTerm, m.RaftTerm)
		st.Revision = max(st.Revision, m.Revision)
	}
	st.Leader = leader(f.Survey.Value)
}

// Answered reports whether a member answered.
func Answered(st *v1alpha1.EtcdClusterStatus) bool {
	return slices.ContainsFunc(st.Members, func(m v1alpha1.MemberStatus) bool { return m.Answered })
}

// leader returns the member that most members follow: its pod, or its name or ID where no pod is
// known. It is empty where there is no leader.
func leader(s etcd.Survey) string {
	id := s.Followed()
	if id == 0 {
		return ""
	}
	all := slices.Concat(s.Members, s.Others)
	if at := slices.IndexFunc(all, func(m etcd.Member) bool { return m.ID == id }); at >= 0 {
		return all[at].Pod
	}
	if at := slices.IndexFunc(s.List, func(l etcd.Listed) bool { return l.ID == id }); at >= 0 {
		return cmp.Or(s.List[at].Pod, s.List[at].Name, etcd.FormatID(id))
	}
	return etcd.FormatID(id)
}
