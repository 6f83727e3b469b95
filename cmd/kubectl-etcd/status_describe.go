// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// statusOf makes of what was seen what is printed. It reads nothing more.
func statusOf(s sight) *v1alpha1.EtcdClusterStatus {
	st := &v1alpha1.EtcdClusterStatus{
		Time: metav1.NewTime(s.at), Cluster: identityOf(s.owner),
		Replicas: countMembers(s.owner, s.facts), Quorum: quorumOf(s.facts),
		Members: describeMembers(s), Operation: s.facts.Cluster.Operation, UnderWay: describeUnderWay(s),
		Spread: describeSpread(s), Budget: describeBudget(s),
		Backup: s.backup, Traffic: s.traffic, Events: describeEvents(s), Unseen: s.unseen,
	}
	for _, c := range s.conditions {
		st.Conditions = append(st.Conditions, v1alpha1.StatusCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
			Since: timeOf(c.Since), Confirmed: timeOf(c.Confirmed), Bad: c.Bad,
		})
	}
	describeEtcd(s, st)
	if s.silence != nil {
		st.Unseen = append(st.Unseen, v1alpha1.Unseen{What: unseenMembers, Why: etcd.Reason(s.silence)})
	}
	if s.owner.Replicas > 0 || len(s.pods) > 0 {
		assess(s, st)
	} else {
		st.Health = v1alpha1.Hibernated
	}
	st.Next = nextCommands(st, s.pods)
	return st
}

// unseenMembers stands for all members where none was asked.
const unseenMembers = "members"

// describeEtcd takes from the members what is true of all of them.
func describeEtcd(s sight, st *v1alpha1.EtcdClusterStatus) {
	for _, m := range s.said.Members {
		if m.Err != nil {
			continue
		}
		st.ClusterID = idText(m.ClusterID)
		st.RaftTerm = max(st.RaftTerm, m.RaftTerm)
		st.Revision = max(st.Revision, m.Revision)
	}
	st.Leader = s.leader(st.RaftTerm)
	if answered(st) {
		st.Replicas.Ready = okMembers(st)
	}
	if ids := s.clusterIDs(); len(ids) > 1 {
		// What was found is true of one of them. Only the largest may have a quorum.
		st.ClusterID, st.Leader, st.RaftTerm, st.Revision, st.Quorum.Healthy = "", "", 0, 0, 0
		for _, pods := range ids {
			st.Quorum.Healthy = max(st.Quorum.Healthy, len(pods))
		}
		st.Quorum.Slack = st.Quorum.Healthy - st.Quorum.Needed
		return
	}
	if len(s.said.List) == 0 {
		if answered(st) {
			st.Quorum.Healthy = s.ledVoters()
			st.Quorum.Slack = st.Quorum.Healthy - st.Quorum.Needed
		}
		return
	}
	q := v1alpha1.Quorum{FromEtcd: true}
	for _, l := range s.said.List {
		if l.Learner {
			continue
		}
		q.Voters++
		at := slices.IndexFunc(s.said.Members, func(m etcd.Member) bool { return m.ID == l.ID })
		if at >= 0 && s.said.Members[at].Err == nil && s.said.Members[at].LeaderID != 0 {
			q.Healthy++
		}
	}
	q.Needed = policy.Quorum(q.Voters)
	q.Slack = q.Healthy - q.Needed
	st.Quorum = q
}

// clusterIDs are the pods by the cluster that their members say they are of.
func (s *sight) clusterIDs() map[uint64][]string {
	ids := map[uint64][]string{}
	for _, m := range s.said.Members {
		if m.ClusterID != 0 {
			ids[m.ClusterID] = append(ids[m.ClusterID], m.Pod)
		}
	}
	return ids
}

func answered(st *v1alpha1.EtcdClusterStatus) bool {
	return slices.ContainsFunc(st.Members, func(m v1alpha1.MemberStatus) bool { return m.Answered })
}

// okMembers counts those with which nothing is wrong and whose pods are Ready.
func okMembers(st *v1alpha1.EtcdClusterStatus) int {
	n := 0
	for i := range st.Members {
		if st.Members[i].State == v1alpha1.StateOK && st.Members[i].PodReady {
			n++
		}
	}
	return n
}

// ledVoters counts those that answered and follow a leader, or are it.
func (s *sight) ledVoters() int {
	n := 0
	for _, m := range s.said.Members {
		if m.Err == nil && m.LeaderID != 0 && !m.Learner {
			n++
		}
	}
	return n
}

// leader is whom the members of a term follow: its pod, or what else it is known by where
// no pod is its own; empty for nobody.
func (s *sight) leader(term uint64) string {
	at := slices.IndexFunc(s.said.Members, func(m etcd.Member) bool { return m.Err == nil && m.RaftTerm == term && m.LeaderID != 0 })
	if at < 0 {
		return ""
	}
	id := s.said.Members[at].LeaderID
	if at := slices.IndexFunc(s.said.Members, func(m etcd.Member) bool { return m.ID == id }); at >= 0 {
		return s.said.Members[at].Pod
	}
	if at := slices.IndexFunc(s.said.List, func(l etcd.Listed) bool { return l.ID == id }); at >= 0 {
		return cmp.Or(s.said.List[at].Pod, s.said.List[at].Name, idText(id))
	}
	return idText(id)
}

// unseenKind says that the user may not list a kind.
func unseenKind(unseen []v1alpha1.Unseen, resource string) bool {
	return slices.ContainsFunc(unseen, func(u v1alpha1.Unseen) bool { return u.What == resource })
}

// blindTo are the kinds that show whether members run, and that the user may not list.
func blindTo(unseen []v1alpha1.Unseen, distribution string) []string {
	var kinds []string
	for _, kind := range []string{"statefulsets.apps", "pods", "leases.coordination.k8s.io"} {
		counts := kind != "leases.coordination.k8s.io" || distribution == string(observe.DistributionDruid)
		if counts && unseenKind(unseen, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// idText is an ID of etcd's as etcdctl has it, filled up to 16 digits; empty for 0.
func idText(id uint64) string {
	if id == 0 {
		return ""
	}
	return hexID(id)
}

func describeSpread(s sight) v1alpha1.SpreadStatus {
	out := v1alpha1.SpreadStatus{Kept: string(s.standing.Kept), Reason: s.standing.Reason, Message: s.standing.Message}
	if unseenKind(s.unseen, "nodes") {
		out = v1alpha1.SpreadStatus{Kept: string(policy.Unknown), Reason: "NodesUnseen", Message: "you may not list nodes, so their zones are not known"}
	}
	switch p := s.governed.Policy; {
	case s.governed.OptedOut:
		out.Wanted = "the cluster has opted out of every policy"
	case len(s.governed.Conflict) > 0:
		out.Wanted = "none applies: policies " + strings.Join(s.governed.Conflict, " and ") + " have the same priority"
	case p != nil:
		out.Policy, out.Mode = p.Name, string(p.Spec.Mode)
		if p.Spec.Mode != policyv1alpha1.ModeOff {
			out.Wanted = "new members go to " + observe.DescribeTerms(s.verdict.Terms)
		}
	}
	return out
}

// describeBudget says what protects the members from eviction, and why it has
// its value: by the record of who set it, and by the rule as of now.
func describeBudget(s sight) v1alpha1.BudgetStatus {
	if unseenKind(s.unseen, "poddisruptionbudgets.policy") {
		return v1alpha1.BudgetStatus{Reason: reasonBudgetsUnseen, Message: "you may not list disruption budgets, so it is not known whether one protects the members"}
	}
	if p := s.facts.Budgets.Problem; p != nil {
		return v1alpha1.BudgetStatus{Reason: p.Reason, Message: p.Message}
	}
	b := s.facts.Budgets.Kept
	if b == nil {
		return v1alpha1.BudgetStatus{}
	}
	out := v1alpha1.BudgetStatus{
		Name: b.Name, Value: b.Value.String(), MinAvailable: b.Value.Min(s.facts.Replicas),
		Allowed: b.Status.DisruptionsAllowed, Kept: b.Record.For != "", Reason: b.Record.Reason,
	}
	rule := policy.Budget(policy.BudgetFacts{
		Cluster: s.facts.Cluster, Current: out.MinAvailable, State: b.Record.State, Now: s.facts.At,
	}, s.settings)
	_, rest, _ := strings.Cut(rule.Message, ": ")
	switch {
	case !out.Kept:
		out.Message = "set by its author, no policy keeps it"
	case rule.Reason == out.Reason:
		out.Message = rest
	default:
		out.Message = reasonDoc(out.Reason)
	}
	return out
}

// reasonDoc is what a reason means, empty for one that nobody knows.
func reasonDoc(reason string) string {
	for _, r := range policy.Reasons() {
		if r.Reason == reason {
			return strings.TrimSuffix(r.Doc, ".")
		}
	}
	return ""
}

// eventsShown is how many warnings a screen has room for.
const eventsShown = 5

// describeEvents are the last warnings about the owner, the workload, the pods,
// their claims and the budget, the last first.
func describeEvents(s sight) []v1alpha1.WarningEvent {
	var out []v1alpha1.WarningEvent
	for i := range s.events {
		e := &s.events[i]
		if !s.concerns(e.InvolvedObject) {
			continue
		}
		last, count := lastSeen(e)
		out = append(out, v1alpha1.WarningEvent{
			Last: metav1.NewTime(last), Count: count, Reason: e.Reason, Message: oneLine(e.Message),
			Object: strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
		})
	}
	slices.SortStableFunc(out, func(a, b v1alpha1.WarningEvent) int {
		return cmp.Or(b.Last.Compare(a.Last.Time), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	return out[:min(len(out), eventsShown)]
}

func (s *sight) concerns(o corev1.ObjectReference) bool {
	switch o.Kind {
	case s.owner.Kind:
		return o.Name == s.owner.Name
	case "StatefulSet":
		return o.Name == s.owner.StatefulSet
	case "Pod":
		return podNamed(s.pods, o.Name) != nil || s.owner.Ordinal(o.Name) >= 0
	case "PersistentVolumeClaim":
		return slices.ContainsFunc(s.owner.Claims, func(c observe.Claim) bool {
			pod, ok := strings.CutPrefix(o.Name, c.Template+"-")
			return ok && s.owner.Ordinal(pod) >= 0
		})
	case "PodDisruptionBudget":
		b := s.facts.Budgets.Kept
		return b != nil && b.Name == o.Name
	}
	return false
}

// lastSeen is when an event last happened and how often: the two APIs of events
// keep them in different fields.
func lastSeen(e *corev1.Event) (time.Time, int32) {
	last, count := e.LastTimestamp.Time, e.Count
	if e.Series != nil {
		last, count = e.Series.LastObservedTime.Time, e.Series.Count
	}
	if last.IsZero() {
		last = e.EventTime.Time
	}
	if last.IsZero() {
		last = e.CreationTimestamp.Time
	}
	return last, max(1, count)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// podNamed is the pod of that name, nil when it isn't there.
func podNamed(pods []*corev1.Pod, name string) *corev1.Pod {
	for _, p := range pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}
