// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Status returns the status of one member. Its Alarms are those that it reports for itself.
// Its Name is empty, since only the member list has it.
func (c *Cluster) Status(ctx context.Context, pod string) Member {
	m, err := c.member(ctx, pod)
	if err != nil {
		return Member{Pod: pod, Err: err}
	}
	// The client's own method opens another connection for each call.
	s, err := pb.NewMaintenanceClient(m.client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return Member{Pod: pod, Err: Explain(m.link.endpoint, err)}
	}
	status := statusOf(pod, s)
	if presented := m.link.certificate(); presented != nil {
		status.CertificateExpiry = presented.NotAfter
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
	for _, text := range s.GetErrors() {
		id, alarm, ok := alarmIn(text)
		if !ok {
			m.Errors = append(m.Errors, text)
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
