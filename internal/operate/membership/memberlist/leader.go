// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// Leader changes etcd's member list. Every change is a request to the leader: a follower may not forward all of them,
// and with authentication a promotion through a follower fails in many releases.
type Leader struct {
	// Pod is the pod of the leader.
	Pod    string
	client *clientv3.Client
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
	return Leader{Pod: leader.Pod, client: client}, err
}

// Add adds a learner with these peer URLs, and returns its ID.
func (l Leader) Add(ctx context.Context, peerURLs []string) (uint64, error) {
	added, err := l.client.MemberAddAsLearner(ctx, peerURLs)
	if err != nil {
		return 0, err
	}
	return added.Member.ID, nil
}

// Promote gives a learner its vote.
func (l Leader) Promote(ctx context.Context, id uint64) error {
	_, err := l.client.MemberPromote(ctx, id)
	return err
}

// Remove removes a member. The caller has moved the leadership to another one first.
func (l Leader) Remove(ctx context.Context, id uint64) error {
	_, err := l.client.MemberRemove(ctx, id)
	return err
}
