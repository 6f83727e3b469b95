// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// StatusOf makes of what was seen what is printed. It reads nothing more.
func StatusOf(s Observation) *v1alpha1.EtcdClusterStatus {
	st := &v1alpha1.EtcdClusterStatus{
		Time: metav1.NewTime(s.At), Cluster: IdentityOf(s.Owner),
		Replicas: countMembers(s.Owner, s.Facts), Quorum: quorumOf(s.Facts),
		Members: describeMembers(s), Operation: s.Facts.Cluster.Operation, UnderWay: describeUnderWay(s),
		Spread: describeSpread(s), Budget: describeBudget(s),
		Backup: s.Backup, Traffic: s.Traffic, Events: describeEvents(s), Unseen: s.Unseen,
	}
	for _, c := range s.Conditions {
		st.Conditions = append(st.Conditions, v1alpha1.StatusCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
			Since: timeOf(c.Since), Confirmed: timeOf(c.Confirmed), Bad: c.Bad,
		})
	}
	describeEtcd(s, st)
	if s.Silence != nil {
		st.Unseen = append(st.Unseen, v1alpha1.Unseen{What: UnseenMembers, Why: etcd.Reason(s.Silence)})
	}
	if s.Owner.Replicas > 0 || len(s.Pods) > 0 {
		assess(s, st)
	} else {
		st.Health = v1alpha1.Hibernated
	}
	st.Next = nextCommands(st, s.Pods)
	return st
}

// UnseenMembers stands for all members where none was asked.
const UnseenMembers = "members"

// describeEtcd takes from the members what is true of all of them.
func describeEtcd(s Observation, st *v1alpha1.EtcdClusterStatus) {
	for _, m := range s.Said.Members {
		if m.Err != nil {
			continue
		}
		st.ClusterID = etcd.FormatID(m.ClusterID)
		st.RaftTerm = max(st.RaftTerm, m.RaftTerm)
		st.Revision = max(st.Revision, m.Revision)
	}
	st.Leader = s.leader(st.RaftTerm)
	if Answered(st) {
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
	if len(s.Said.List) == 0 {
		if Answered(st) {
			st.Quorum.Healthy = s.ledVoters()
			st.Quorum.Slack = st.Quorum.Healthy - st.Quorum.Needed
		}
		return
	}
	q := v1alpha1.Quorum{FromEtcd: true}
	for _, l := range s.Said.List {
		if l.Learner {
			continue
		}
		q.Voters++
		at := slices.IndexFunc(s.Said.Members, func(m etcd.Member) bool { return m.ID == l.ID })
		if at >= 0 && s.Said.Members[at].Err == nil && s.Said.Members[at].LeaderID != 0 {
			q.Healthy++
		}
	}
	q.Needed = policy.Quorum(q.Voters)
	q.Slack = q.Healthy - q.Needed
	st.Quorum = q
}

// clusterIDs are the pods by the cluster that their members say they are of.
func (s *Observation) clusterIDs() map[uint64][]string {
	ids := map[uint64][]string{}
	for _, m := range s.Said.Members {
		if m.ClusterID != 0 {
			ids[m.ClusterID] = append(ids[m.ClusterID], m.Pod)
		}
	}
	return ids
}

func Answered(st *v1alpha1.EtcdClusterStatus) bool {
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
func (s *Observation) ledVoters() int {
	n := 0
	for _, m := range s.Said.Members {
		if m.Err == nil && m.LeaderID != 0 && !m.Learner {
			n++
		}
	}
	return n
}

// leader is whom the members of a term follow: its pod, or what else it is known by where
// no pod is its own; empty for nobody.
func (s *Observation) leader(term uint64) string {
	at := slices.IndexFunc(s.Said.Members, func(m etcd.Member) bool { return m.Err == nil && m.RaftTerm == term && m.LeaderID != 0 })
	if at < 0 {
		return ""
	}
	id := s.Said.Members[at].LeaderID
	if at := slices.IndexFunc(s.Said.Members, func(m etcd.Member) bool { return m.ID == id }); at >= 0 {
		return s.Said.Members[at].Pod
	}
	if at := slices.IndexFunc(s.Said.List, func(l etcd.Listed) bool { return l.ID == id }); at >= 0 {
		return cmp.Or(s.Said.List[at].Pod, s.Said.List[at].Name, etcd.FormatID(id))
	}
	return etcd.FormatID(id)
}

// UnseenKind says that the user may not list a kind.
func UnseenKind(unseen []v1alpha1.Unseen, resource string) bool {
	return slices.ContainsFunc(unseen, func(u v1alpha1.Unseen) bool { return u.What == resource })
}

// BlindTo are the kinds that show whether members run, and that the user may not list.
func BlindTo(unseen []v1alpha1.Unseen, distribution string) []string {
	var kinds []string
	for _, kind := range []string{"statefulsets.apps", "pods", "leases.coordination.k8s.io"} {
		counts := kind != "leases.coordination.k8s.io" || flavour.Of(flavour.Name(distribution)).RenewsLeases
		if counts && UnseenKind(unseen, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func describeSpread(s Observation) v1alpha1.SpreadStatus {
	out := v1alpha1.SpreadStatus{Kept: string(s.Standing.Kept), Reason: s.Standing.Reason.Name(), Message: s.Standing.Message}
	if UnseenKind(s.Unseen, "nodes") {
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
func describeBudget(s Observation) v1alpha1.BudgetStatus {
	if UnseenKind(s.Unseen, "poddisruptionbudgets.policy") {
		return v1alpha1.BudgetStatus{Reason: ReasonBudgetsUnseen, Message: "you may not list disruption budgets, so it is not known whether one protects the members"}
	}
	if p := s.Facts.Budgets.Problem; p != nil {
		return v1alpha1.BudgetStatus{Reason: p.Reason, Message: p.Message}
	}
	b := s.Facts.Budgets.Kept
	if b == nil {
		return v1alpha1.BudgetStatus{}
	}
	out := v1alpha1.BudgetStatus{
		Name: b.Name, Value: b.Value.String(), MinAvailable: b.Value.Min(s.Facts.Replicas),
		Allowed: b.Status.DisruptionsAllowed, Kept: b.Record.For != "", Reason: b.Record.Reason,
	}
	rule := budget.Evaluate(budget.Facts{
		Cluster: s.Facts.Cluster, Current: out.MinAvailable, State: b.Record.State, Now: s.Facts.At,
	}, s.Settings)
	_, rest, _ := strings.Cut(rule.Message, ": ")
	switch {
	case !out.Kept:
		out.Message = "set by its author, no policy keeps it"
	case rule.Reason.Name() == out.Reason:
		out.Message = rest
	default:
		out.Message = reasonDoc(out.Reason)
	}
	return out
}

// reasonDoc is what a reason means, empty for one that nobody knows.
func reasonDoc(reason string) string {
	for _, topic := range reasons.Rules() {
		for _, r := range topic.Reasons {
			if r.Name() == reason {
				return strings.TrimSuffix(r.Doc(), ".")
			}
		}
	}
	return ""
}

// describeEvents are the last warnings about the owner, the workload, the pods,
// their claims and the budget, the last first.
func describeEvents(s Observation) []v1alpha1.WarningEvent {
	var out []v1alpha1.WarningEvent
	for i := range s.Events {
		e := &s.Events[i]
		if !s.concerns(e.InvolvedObject) {
			continue
		}
		last, count := observe.EventTime(e)
		out = append(out, v1alpha1.WarningEvent{
			Last: metav1.NewTime(last), Count: count, Reason: e.Reason, Message: format.OneLine(e.Message),
			Object: strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
		})
	}
	slices.SortStableFunc(out, func(a, b v1alpha1.WarningEvent) int {
		return cmp.Or(b.Last.Compare(a.Last.Time), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	return out[:min(len(out), observe.EventsShown)]
}

func (s *Observation) concerns(o corev1.ObjectReference) bool {
	switch o.Kind {
	case s.Owner.Kind:
		return o.Name == s.Owner.Name
	case "StatefulSet":
		return o.Name == s.Owner.StatefulSet
	case "Pod":
		return PodNamed(s.Pods, o.Name) != nil || s.Owner.Ordinal(o.Name) >= 0
	case "PersistentVolumeClaim":
		return slices.ContainsFunc(s.Owner.Claims, func(c observe.Claim) bool {
			pod, ok := strings.CutPrefix(o.Name, c.Template+"-")
			return ok && s.Owner.Ordinal(pod) >= 0
		})
	case "PodDisruptionBudget":
		b := s.Facts.Budgets.Kept
		return b != nil && b.Name == o.Name
	}
	return false
}

// PodNamed is the pod of that name, nil when it isn't there.
func PodNamed(pods []*corev1.Pod, name string) *corev1.Pod {
	for _, p := range pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}
