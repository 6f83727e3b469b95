// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/clock"
)

// Contact is what a leader's metrics show of its connection with another member.
type Contact struct {
	// Connected is true if the leader has a connection with the member.
	Connected bool
	// Receiving is true if the leader received something from the member while the contact was
	// measured.
	Receiving bool
}

// contactTime is for how long a contact is measured. A follower answers each heartbeat of its
// leader: ten times a second by default, and at least once a second as etcd's documentation
// tunes it for members that are far apart.
const contactTime = 3 * time.Second

// Metrics of rafthttp, in all versions of etcd from 3.4 on.
const (
	activePeers   = "etcd_network_active_peers"
	receivedBytes = "etcd_network_peer_received_bytes_total"
)

// Contact measures the contact of the leader in a pod with another member, which takes three
// seconds. It fails where the leader's metrics can't be read.
func (c *Cluster) Contact(ctx context.Context, leader string, id uint64, timer clock.Clock) (Contact, error) {
	before, err := c.Metrics(ctx, leader)
	if err != nil {
		return Contact{}, err
	}
	select {
	case <-ctx.Done():
		return Contact{}, context.Cause(ctx)
	case <-timer.After(contactTime):
	}
	after, err := c.Metrics(ctx, leader)
	if err != nil {
		return Contact{}, err
	}
	return contact(before, after, id)
}

// contact compares two readings of a leader's metrics. A member that the leader never reached
// has no entry in them. Metrics without any entry show nothing: a filter may have removed them.
func contact(before, after map[string]*dto.MetricFamily, id uint64) (Contact, error) {
	if len(after[activePeers].GetMetric())+len(after[receivedBytes].GetMetric()) == 0 {
		return Contact{}, errors.New("the leader's metrics have no entry for other members (" + activePeers + ")")
	}
	return Contact{
		Connected: byPeer(after[activePeers], "Remote")[id] > 0,
		Receiving: byPeer(after[receivedBytes], "From")[id] > byPeer(before[receivedBytes], "From")[id],
	}, nil
}
