// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// What is known of each cluster, whether a policy governs it or not. They have
// one series a cluster, or one a condition; all go with the cluster.
var (
	membersDesired = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_members_desired",
		Help: "How many members the cluster has or is to have, whichever is more.",
	}, []string{"namespace", "cluster"})
	membersReady = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_members_ready",
		Help: "How many members with a vote are ready: their pod is Ready, and they gave a sign of life within three heartbeats.",
	}, []string{"namespace", "cluster"})
	membersNeeded = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_quorum",
		Help: "How many members must be ready for the cluster, at the size that it has or is to have, to serve writes; 0 for a cluster scaled to 0.",
	}, []string{"namespace", "cluster"})
	conditionStatus = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_condition",
		Help: "1 for the status that the condition AllMembersReady or BackupReady has: True, False, Unknown (nothing recent is known), or Absent (nobody keeps it, as BackupReady without a backup store).",
	}, []string{"namespace", "cluster", "condition", "status"})
	conditionSince = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_cluster_condition_since_timestamp_seconds",
		Help: "Unix time since when the condition has its status, as its keeper says or, where nobody does, since this leader saw it.",
	}, []string{"namespace", "cluster", "condition"})
)

func clusterMetrics() []*prometheus.GaugeVec {
	return []*prometheus.GaugeVec{membersDesired, membersReady, membersNeeded, conditionStatus, conditionSince}
}

// clustersSeen remembers since when conditions are as they are, for those whose
// keeper doesn't say. The zero value is ready.
type clustersSeen struct {
	mu sync.Mutex
	of map[observe.OwnerKey]map[string]seenCondition
}

type seenCondition struct {
	status policy.Status
	since  time.Time
}

// publish shows a cluster as it is now.
func (s *clustersSeen) publish(ctx context.Context, r *observe.Reader, o observe.Owner, f observe.Facts) error {
	kept, err := r.Conditions(ctx, o, f)
	if err != nil {
		return err
	}
	of := prometheus.Labels{"namespace": o.Namespace, "cluster": o.Name}
	ready, quorum := 0, 0
	for _, m := range f.Cluster.Members {
		if m.Ready && m.PodReady && !m.Learner {
			ready++
		}
	}
	if f.Cluster.Size > 0 {
		quorum = policy.Quorum(f.Cluster.Size)
	}
	membersDesired.With(of).Set(float64(f.Cluster.Size))
	membersReady.With(of).Set(float64(ready))
	membersNeeded.With(of).Set(float64(quorum))
	for kind, c := range map[string]policy.Condition{"AllMembersReady": f.Cluster.AllMembersReady, "BackupReady": f.Cluster.BackupReady} {
		status := c.Value()
		since, was, changed := s.turn(o.Key(), kind, status, f.At)
		i := slices.IndexFunc(kept, func(k observe.Condition) bool { return k.Type == kind })
		if i >= 0 && kept[i].Status == string(status) && !kept[i].Since.IsZero() {
			since = kept[i].Since
		}
		if changed {
			conditionStatus.DeleteLabelValues(o.Namespace, o.Name, kind, statusLabel(was))
		}
		conditionStatus.WithLabelValues(o.Namespace, o.Name, kind, statusLabel(status)).Set(1)
		conditionSince.WithLabelValues(o.Namespace, o.Name, kind).Set(float64(since.Unix()))
	}
	return nil
}

func statusLabel(s policy.Status) string { return cmp.Or(string(s), "Absent") }

// turn notes a condition's status: since when it was seen to have it, and what
// it was before if that was another.
func (s *clustersSeen) turn(key observe.OwnerKey, kind string, status policy.Status, now time.Time) (since time.Time, was policy.Status, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[observe.OwnerKey]map[string]seenCondition{}
	}
	if s.of[key] == nil {
		s.of[key] = map[string]seenCondition{}
	}
	before, known := s.of[key][kind]
	if known && before.status == status {
		return before.since, status, false
	}
	s.of[key][kind] = seenCondition{status, now}
	return now, before.status, known
}

// drop forgets a cluster that is gone, with its series.
func (s *clustersSeen) drop(key observe.OwnerKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.of[key]; !known {
		return
	}
	delete(s.of, key)
	for _, m := range clusterMetrics() {
		m.DeletePartialMatch(prometheus.Labels{"namespace": key.Namespace, "cluster": key.Name})
	}
}
