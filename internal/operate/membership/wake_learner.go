// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// wakeInterval is the time between two entries that are committed for a learner that doesn't answer.
const wakeInterval = 10 * time.Second

// leaseTTL is in seconds. etcd raises it to the shortest time that it allows.
const leaseTTL = 1

// wakeLearner commits an entry that changes no key, if a learner runs and doesn't answer. A learner that got its
// data as a snapshot of the leader takes 0 as the index that it has applied, until it applies an entry. If the
// snapshot's index is above [policy.RequestGap] and no client writes, it refuses its own registration as one request too
// many, and never answers. An error doesn't matter: etcd commits the entry before it refuses a lease, and this is
// called again.
func (m *Members) wakeLearner(ctx context.Context, s *observation) {
	leader, led := s.survey.Leader()
	if !led || leader.RaftApplied <= policy.RequestGap || !s.silentLearner() || m.Clock.Since(m.woken) < wakeInterval {
		return
	}
	c, err := m.cluster.Client(ctx, leader.Pod)
	if err != nil {
		return
	}
	m.woken = m.Clock.Now()
	_, _ = c.Grant(ctx, leaseTTL)
}

// silentLearner reports whether the pod of a learner runs, and the learner doesn't answer.
func (s *observation) silentLearner() bool {
	return slices.ContainsFunc(s.Members, func(p membership.Peer) bool {
		if !p.Learner || p.Healthy || p.Ordinal < 0 || p.Ordinal >= len(s.Ordinals) {
			return false
		}
		pod := s.pods[s.Ordinals[p.Ordinal].Pod]
		return pod != nil && pod.Status.Phase == corev1.PodRunning
	})
}
