// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// Leader changes etcd's member list. Every change is a request to the leader: a follower may not forward all of them,
// and with authentication a promotion through a follower fails in many releases.
type Leader struct {
	// Pod is the pod of the leader.
	Pod     string
	client  *clientv3.Client
	cluster *etcd.Cluster
}

// LeaderOf returns the leader of a survey.
func LeaderOf(ctx context.Context, c *etcd.Cluster, s etcd.Survey) (Leader, error) {
	leader, ok := s.Leader()
	if id := s.Followed(); !ok && id != 0 {
		return Leader{}, fmt.Errorf("the members follow the leader %016x, which has to make the change and can't be asked here", id)
	}
	if !ok {
		return Leader{}, errors.New("no member leads now")
	}
	client, err := c.Client(ctx, leader.Pod)
	return Leader{Pod: leader.Pod, client: client, cluster: c}, err
}

// Add adds a learner with these peer URLs, and returns its ID.
func (l Leader) Add(ctx context.Context, peerURLs []string) (uint64, error) {
	added, err := l.client.MemberAddAsLearner(ctx, peerURLs)
	if err != nil {
		return 0, err
	}
	return added.Member.ID, nil
}

// Promote gives a learner its vote. It fails while the leader has no connection to the learner, as far as its metrics can
// be read: such a learner still reports its last leader, and may seem to have caught up where little is written. With its
// vote, the quorum may be lost.
func (l Leader) Promote(ctx context.Context, id uint64) error {
	if away, err := l.cluster.InactivePeers(ctx, l.Pod); err == nil && slices.Contains(away, id) {
		return fmt.Errorf("the leader %s has no connection to the learner %016x, so its vote could not be cast: check the network between them, and the certificates for peers", l.Pod, id)
	}
	_, err := l.client.MemberPromote(ctx, id)
	return err
}

// Remove removes a member. The caller has moved the leadership to another one first.
func (l Leader) Remove(ctx context.Context, id uint64) error {
	_, err := l.client.MemberRemove(ctx, id)
	return err
}
