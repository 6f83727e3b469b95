// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The state of each cluster, with or without a policy. There is one series a cluster, or
// one a condition. They are deleted with the cluster.
var (
	membersDesired = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_members_desired",
		Help: "Number of members that the cluster has or should have, whichever is larger.",
	}, []string{"namespace", "cluster"})
	membersReady = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_members_ready",
		Help: "Number of voting members that are ready: their pod is Ready, and their last heartbeat, where members have heartbeats, is at most three intervals old.",
	}, []string{"namespace", "cluster"})
	membersNotAnswering = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_members_not_answering",
		Help: "Number of ready voting members that don't answer etcd-webhook that they have a quorum, where a policy has askMembers. 0 where members are not asked.",
	}, []string{"namespace", "cluster"})
	membersNeeded = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_quorum",
		Help: "Number of members that must be ready so that the cluster, at the size that it has or should have, serves writes. 0 for a cluster that is scaled to 0.",
	}, []string{"namespace", "cluster"})
	conditionStatus = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_condition",
		Help: "1 for the status of the condition AllMembersReady or BackupReady: True, False, Unknown (there is no recent evidence), or Absent (no program reports it, as BackupReady without a backup store).",
	}, []string{"namespace", "cluster", "condition", "status"})
	conditionSince = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_condition_since_timestamp_seconds",
		Help: "Unix time since which the condition has its status: as reported with the condition, or else since this leader observed it.",
	}, []string{"namespace", "cluster", "condition"})
)

func clusterMetrics() []*prometheus.GaugeVec {
	return []*prometheus.GaugeVec{membersDesired, membersReady, membersNotAnswering, membersNeeded, conditionStatus, conditionSince}
}

// conditionTypes are the conditions that the metrics show.
var conditionTypes = []string{"AllMembersReady", "BackupReady"}

// conditionHistory holds since when the conditions of clusters have their status, for
// conditions that are reported without a time.
type conditionHistory struct {
	memory.Keyed[conditionKey, observedCondition]
}

// conditionKey names a condition of a cluster.
type conditionKey struct {
	owner.Key

	condition string
}

// observedCondition is the status of a condition, and since when it has it.
type observedCondition struct {
	status policy.Status
	since  time.Time
}

// publish sets the metrics of a cluster. f are facts without the answers of members, so that the metrics count ready
// members as list and status do: see health.Facts.MemberCount. notAnswering is the number of members that only their
// answers show as not ready.
func (h *conditionHistory) publish(o owner.Owner, f observe.Facts, notAnswering int, reported []observe.Condition) {
	quorum := 0
	if f.Cluster.Size > 0 {
		quorum = policy.Quorum(f.Cluster.Size)
	}
	membersDesired.WithLabelValues(o.Namespace, o.Name).Set(float64(f.Cluster.Size))
	membersReady.WithLabelValues(o.Namespace, o.Name).Set(float64(f.Cluster.UpVoters()))
	membersNotAnswering.WithLabelValues(o.Namespace, o.Name).Set(float64(notAnswering))
	membersNeeded.WithLabelValues(o.Namespace, o.Name).Set(float64(quorum))
	for _, kind := range conditionTypes {
		condition := f.Cluster.AllMembersReady
		if kind == "BackupReady" {
			condition = f.Cluster.BackupReady
		}
		status := condition.Value()
		since, previous, changed := h.observe(conditionKey{o.Key(), kind}, status, f.At)
		i := slices.IndexFunc(reported, func(c observe.Condition) bool { return c.Type == kind })
		if i >= 0 && reported[i].Status == string(status) && !reported[i].Since.IsZero() {
			since = reported[i].Since
		}
		if changed {
			conditionStatus.DeleteLabelValues(o.Namespace, o.Name, kind, statusLabel(previous))
		}
		conditionStatus.WithLabelValues(o.Namespace, o.Name, kind, statusLabel(status)).Set(1)
		conditionSince.WithLabelValues(o.Namespace, o.Name, kind).Set(float64(since.Unix()))
	}
}

func statusLabel(s policy.Status) string { return cmp.Or(string(s), "Absent") }

// observe records a condition's status. It returns since when the condition has been
// observed with it, and the previous status if that differs.
func (h *conditionHistory) observe(key conditionKey, status policy.Status, now time.Time) (since time.Time, previous policy.Status, changed bool) {
	before, known := h.Get(key)
	if known && before.status == status {
		return before.since, status, false
	}
	h.Swap(key, observedCondition{status, now})
	return now, before.status, known
}

// removeCluster removes a cluster that is gone, with its series.
func (h *conditionHistory) removeCluster(key owner.Key) {
	known := false
	for _, kind := range conditionTypes {
		_, was := h.Remove(conditionKey{key, kind})
		known = known || was
	}
	if !known {
		return
	}
	for _, m := range clusterMetrics() {
		m.DeletePartialMatch(prometheus.Labels{"namespace": key.Namespace, "cluster": key.Name})
	}
}
