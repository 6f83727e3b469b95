// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// member is one member's server. Calls that it doesn't have are unimplemented.
type member struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedClusterServer
	pb.UnimplementedKVServer
	pb.UnimplementedLeaseServer

	cluster *Cluster
	id      uint64
}

const (
	clusterID, term, revision = 7, 3, 1000
	quota                     = 2 << 30
)

// write does a call that changes the cluster, unless the test fails it.
func (m *member) write(call string, do func(c *Cluster)) (*pb.ResponseHeader, error) {
	c := m.cluster
	if c.Fail != nil {
		if err := c.Fail(call); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, call)
	if do != nil {
		do(c)
	}
	return m.header(), nil
}

func (m *member) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: clusterID, MemberId: m.id, Revision: revision, RaftTerm: term}
}

// name returns the name of the pod that the call reached.
func (m *member) name() string { return fmt.Sprintf("main-%d", m.id-1) }

func (m *member) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	c := m.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.Members, func(l *pb.Member) bool { return l.ID == m.id })
	s := &pb.StatusResponse{
		Header: m.header(), Version: "3.6.5", DbSize: c.Size, DbSizeInUse: c.InUse, DbSizeQuota: quota,
		Leader: c.Leader, RaftIndex: revision, RaftTerm: term, RaftAppliedIndex: revision, IsLearner: at >= 0 && c.Members[at].IsLearner,
	}
	if m.name() == c.Forced {
		s.Leader = m.id
	}
	if c.behind && !s.IsLearner {
		s.RaftIndex, s.RaftAppliedIndex = 10*revision, 10*revision
	}
	for _, a := range c.Alarms {
		s.Errors = append(s.Errors, fmt.Sprintf("memberID:%d alarm:%s ", a.MemberID, a.Alarm))
	}
	return s, nil
}

func (m *member) MemberList(_ context.Context, r *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	if r.Linearizable && m.cluster.QuorumLost {
		return nil, rpctypes.ErrGRPCNoLeader
	}
	members := slices.Clone(m.cluster.Members)
	if m.name() == m.cluster.Forced {
		members = slices.DeleteFunc(members, func(l *pb.Member) bool { return l.ID != m.id })
	}
	return &pb.MemberListResponse{Header: m.header(), Members: members}, nil
}

func (m *member) MemberAdd(_ context.Context, r *pb.MemberAddRequest) (*pb.MemberAddResponse, error) {
	added := &pb.Member{PeerURLs: r.PeerURLs, IsLearner: r.IsLearner}
	header, err := m.write("add "+fmt.Sprint(r.PeerURLs), func(c *Cluster) {
		c.added++
		added.ID = 100 + c.added // etcd never gives an ID twice
		c.Members = append(c.Members, added)
	})
	return &pb.MemberAddResponse{Header: header, Member: added}, err
}

func (m *member) MemberRemove(_ context.Context, r *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	header, err := m.write(fmt.Sprintf("remove %d", r.ID), func(c *Cluster) {
		c.Members = slices.DeleteFunc(c.Members, func(l *pb.Member) bool { return l.ID == r.ID })
	})
	return &pb.MemberRemoveResponse{Header: header}, err
}

func (m *member) MemberUpdate(_ context.Context, r *pb.MemberUpdateRequest) (*pb.MemberUpdateResponse, error) {
	header, err := m.write(fmt.Sprintf("update %d %v", r.ID, r.PeerURLs), func(c *Cluster) {
		members := slices.Clone(c.Members) // an answer may still have the old one
		for i, l := range members {
			if l.ID == r.ID {
				members[i] = &pb.Member{ID: l.ID, Name: l.Name, PeerURLs: r.PeerURLs, ClientURLs: l.ClientURLs, IsLearner: l.IsLearner}
			}
		}
		c.Members = members
	})
	return &pb.MemberUpdateResponse{Header: header}, err
}

func (m *member) MemberPromote(_ context.Context, r *pb.MemberPromoteRequest) (*pb.MemberPromoteResponse, error) {
	header, err := m.write(fmt.Sprintf("promote %d", r.ID), func(c *Cluster) {
		for _, l := range c.Members {
			l.IsLearner = l.IsLearner && l.ID != r.ID
		}
	})
	return &pb.MemberPromoteResponse{Header: header}, err
}

func (m *member) Alarm(_ context.Context, r *pb.AlarmRequest) (*pb.AlarmResponse, error) {
	if r.Action == pb.AlarmRequest_GET {
		m.cluster.mu.Lock()
		defer m.cluster.mu.Unlock()
		slices.Reverse(m.cluster.Alarms) // etcd's order is random
		return &pb.AlarmResponse{Header: m.header(), Alarms: slices.Clone(m.cluster.Alarms)}, nil
	}
	header, err := m.write(fmt.Sprintf("disarm %s of %d", r.Alarm, r.MemberID), func(c *Cluster) {
		if !c.KeepAlarms {
			c.Alarms = slices.DeleteFunc(slices.Clone(c.Alarms), func(a *pb.AlarmMember) bool { return a.MemberID == r.MemberID && a.Alarm == r.Alarm })
		}
	})
	return &pb.AlarmResponse{Header: header}, err
}

func (m *member) LeaseGrant(_ context.Context, r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	header, err := m.write(fmt.Sprintf("grant a lease of %ds", r.TTL), nil)
	return &pb.LeaseGrantResponse{Header: header, TTL: r.TTL}, err
}

// Defragment ends with a database that has nothing but its data.
func (m *member) Defragment(context.Context, *pb.DefragmentRequest) (*pb.DefragmentResponse, error) {
	header, err := m.write("defragment "+m.name(), func(c *Cluster) { c.Size = c.InUse })
	return &pb.DefragmentResponse{Header: header}, err
}

func (m *member) MoveLeader(_ context.Context, r *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	m.cluster.mu.Lock()
	leads := m.cluster.Leader == m.id
	m.cluster.mu.Unlock()
	if !leads {
		return nil, rpctypes.ErrGRPCNotLeader
	}
	header, err := m.write(fmt.Sprintf("move leader to %d", r.TargetID), func(c *Cluster) { c.Leader = r.TargetID })
	return &pb.MoveLeaderResponse{Header: header}, err
}

func (m *member) HashKV(context.Context, *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	r := &pb.HashKVResponse{Header: m.header(), Hash: 42, CompactRevision: 1}
	if m.name() == m.cluster.Odd {
		r.Hash++
	}
	return r, nil
}

func (m *member) Compact(_ context.Context, r *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	header, err := m.write(fmt.Sprintf("compact %d", r.Revision), nil)
	return &pb.CompactionResponse{Header: header}, err
}

func (m *member) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return &pb.RangeResponse{Header: m.header()}, nil
}
