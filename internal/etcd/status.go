// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Status asks one member what it says of itself. Its Alarms are those that it knows
// of for itself; its Name is only known from the member list.
func (c *Cluster) Status(ctx context.Context, pod string) Member {
	m, err := c.member(ctx, pod)
	if err != nil {
		return Member{Pod: pod, Err: err}
	}
	// Not the client's own method, which makes another connection for each call.
	s, err := pb.NewMaintenanceClient(m.client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return Member{Pod: pod, Err: Explain(m.link.endpoint, err)}
	}
	status := statusOf(pod, s)
	if shown := m.link.certificate(); shown != nil {
		status.CertificateExpiry = shown.NotAfter
	}
	if status.Quota == 0 {
		status.Quota = c.quota(ctx, pod)
	}
	return status
}

func statusOf(pod string, s *pb.StatusResponse) Member {
	m := Member{
		Pod:         pod,
		ID:          s.GetHeader().GetMemberId(),
		ClusterID:   s.GetHeader().GetClusterId(),
		Learner:     s.GetIsLearner(),
		LeaderID:    s.GetLeader(),
		Version:     s.GetVersion(),
		DBSize:      s.GetDbSize(),
		DBSizeInUse: s.GetDbSizeInUse(),
		Quota:       s.GetDbSizeQuota(),
		RaftTerm:    s.GetRaftTerm(),
		RaftIndex:   s.GetRaftIndex(),
		RaftApplied: s.GetRaftAppliedIndex(),
		Revision:    s.GetHeader().GetRevision(),
	}
	m.Leader = m.ID != 0 && m.ID == m.LeaderID
	for _, said := range s.GetErrors() {
		id, alarm, ok := alarmIn(said)
		if !ok {
			m.Errors = append(m.Errors, said)
			continue
		}
		if m.raised == nil {
			m.raised = map[uint64][]string{}
		}
		m.raised[id] = append(m.raised[id], alarm)
	}
	m.Alarms = m.raised[m.ID]
	return m
}
