// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// describeMembers are the pods by ordinal, with those that are yet to come or
// gone, and after them the entries of etcd's list that no pod runs.
func describeMembers(s Observation) []v1alpha1.MemberStatus {
	out := []v1alpha1.MemberStatus{} // a document has the list also where nobody is in it
	for _, name := range s.memberNames() {
		out = append(out, s.member(name))
	}
	for _, l := range s.Said.List {
		if l.Pod != "" && PodNamed(s.Pods, l.Pod) != nil {
			continue
		}
		m := v1alpha1.MemberStatus{ID: etcd.FormatID(l.ID), Name: l.Name, Role: RoleName(l.Learner, false), State: StateNoPod}
		if at := slices.IndexFunc(out, func(o v1alpha1.MemberStatus) bool {
			return o.ID == "" && o.Pod != "" && o.State == StateNoPod && isOf(l, o.Pod)
		}); at >= 0 {
			m.Pod = out[at].Pod
			out[at] = m
			continue
		}
		out = append(out, m)
	}
	return out
}

// isOf says whether an entry of the member list is the one of a pod that isn't
// there, as far as its name and its peer URL tell.
func isOf(l etcd.Listed, pod string) bool {
	return l.Name == pod || slices.ContainsFunc(l.PeerURLs, func(u string) bool { return strings.Contains(u, "://"+pod+".") })
}

// memberNames are the pods that are there or should be, by ordinal.
func (s *Observation) memberNames() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range s.Pods {
		add(p.Name)
	}
	for _, m := range s.Facts.Cluster.Members {
		add(m.Pod)
	}
	if s.Owner.StatefulSet != "" {
		for i := range int(s.Owner.Replicas) {
			add(s.Owner.PodName(i))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Owner.Ordinal(a), s.Owner.Ordinal(b)), cmp.Compare(a, b))
	})
	return names
}

// member is one pod's, with what its member said.
func (s *Observation) member(name string) v1alpha1.MemberStatus {
	m := v1alpha1.MemberStatus{Pod: name}
	if i := slices.IndexFunc(s.Facts.Cluster.Members, func(f policy.Member) bool { return f.Pod == name }); i >= 0 {
		f := s.Facts.Cluster.Members[i]
		m.PodReady, m.Node, m.Zone = f.PodReady, f.Node, f.Zone
		if f.Leader && !slices.ContainsFunc(s.Said.Members, func(said etcd.Member) bool { return said.Err == nil }) {
			m.Role = v1alpha1.RoleLeader // as its lease says
		}
	}
	pod := PodNamed(s.Pods, name)
	switch {
	case pod == nil && (UnseenKind(s.Unseen, "pods") || UnseenKind(s.Unseen, "statefulsets.apps")):
		m.State = stateUnseen
		return m
	case pod == nil:
		m.State = StateNoPod
		return m
	}
	m.Restarts = restarts(pod)
	m.State, m.Detail = podState(pod)
	if i := slices.IndexFunc(s.Said.Members, func(said etcd.Member) bool { return said.Pod == name }); i >= 0 {
		s.fill(&m, s.Said.Members[i])
	}
	// What Kubernetes waits for comes first: a pod that is Pending has not had the time to join.
	if restarting := strings.HasPrefix(m.State, "CrashLoop"); (restarting || m.State == stateSilent) && slices.Contains(s.Said.Outsiders(), name) {
		m.State, m.Detail = stateNoMember, "etcd's list doesn't have it: it was removed, or has not joined yet"
	}
	return m
}

// fill takes what a member said of itself.
func (s *Observation) fill(m *v1alpha1.MemberStatus, said etcd.Member) {
	if said.Err != nil {
		silent(m, said.Err)
		if said.ID == 0 {
			return
		}
	}
	m.Answered = said.Err == nil
	m.ID, m.Name, m.Version, m.Alarms = etcd.FormatID(said.ID), said.Name, said.Version, said.Alarms
	m.Role = RoleName(said.Learner, said.Leader)
	m.DBSize, m.DBSizeInUse, m.Quota = said.DBSize, said.DBSizeInUse, said.Quota
	m.RaftIndex, m.RaftApplied = said.RaftIndex, said.RaftApplied
	if !said.CertificateExpiry.IsZero() {
		m.CertificateExpiry = timeOf(said.CertificateExpiry)
	}
	if !m.Answered {
		return
	}
	lag := s.furthest() - min(said.RaftApplied, s.furthest())
	m.Lag = &lag
	switch {
	case m.State != v1alpha1.StateOK && m.State != stateUnready:
	case said.LeaderID == 0:
		m.State, m.Detail = stateLeaderless, "it is cut off from the others, or there is no quorum"
	case len(said.Alarms) > 0:
		m.State = strings.Join(said.Alarms, " ")
	case len(said.Errors) > 0:
		m.State, m.Detail = stateSick, strings.Join(said.Errors, "; ")
	case said.Learner:
		// A learner is not Ready: that is no fault of its own.
		m.State, m.Detail = v1alpha1.StateOK, ""
	}
}

// silent says why a member gave no answer, unless its pod shows it.
func silent(m *v1alpha1.MemberStatus, err error) {
	switch {
	case m.State != v1alpha1.StateOK && m.State != stateUnready:
	case apierrors.IsForbidden(err) && m.State == stateUnready: // which is all that is known
	case apierrors.IsForbidden(err):
		m.State, m.Detail = stateNotAsked, etcd.Reason(err)
	default:
		m.State, m.Detail = stateSilent, etcd.Reason(err)
	}
}

// furthest is the last entry that any member has.
func (s *Observation) furthest() uint64 {
	var index uint64
	for _, m := range s.Said.Members {
		if m.Err == nil {
			index = max(index, m.RaftIndex)
		}
	}
	return index
}

func RoleName(learner, leader bool) string {
	switch {
	case leader:
		return v1alpha1.RoleLeader
	case learner:
		return v1alpha1.RoleLearner
	}
	return v1alpha1.RoleVoter
}

// The states of a member beside OK, an alarm's name and the reason why a
// container waits.
const (
	StateNoPod       = "no pod"
	stateNoMember    = "no member"
	stateUnseen      = "not seen"
	stateUnready     = "unready"
	statePending     = "pending"
	stateTerminating = "terminating"
	stateSilent      = "no answer"
	stateNotAsked    = "not asked"
	stateLeaderless  = "no leader"
	stateSick        = "error"
)

// podState is what is wrong with a pod, and more words for it.
func podState(pod *corev1.Pod) (state, detail string) {
	if pod.DeletionTimestamp != nil {
		return stateTerminating, ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return statePending, format.OneLine(c.Message)
		}
	}
	if c := waiting(pod); c != nil {
		return c.State.Waiting.Reason, waitingDetail(c)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return v1alpha1.StateOK, ""
		}
	}
	return stateUnready, unreadyDetail(pod)
}

// waiting is the first container that doesn't come up, nil where none is.
func waiting(pod *corev1.Pod) *corev1.ContainerStatus {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			return &c
		}
	}
	return nil
}

func waitingDetail(c *corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil {
		return "container " + c.Name + " ended " + endedText(t)
	}
	return format.OneLine(c.State.Waiting.Message)
}

func unreadyDetail(pod *corev1.Pod) string {
	var waiting []string
	for _, c := range pod.Status.ContainerStatuses {
		if !c.Ready {
			waiting = append(waiting, c.Name)
		}
	}
	if len(waiting) == 0 {
		return "its pod is not Ready"
	}
	return "not Ready: container " + strings.Join(waiting, ", ")
}

func restarts(pod *corev1.Pod) int32 {
	var n int32
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}
