// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// SnapshotSource returns the member of a pod as a source, with a separate connection.
func (c *Cluster) SnapshotSource(pod string) snapshot.Source {
	return snapshot.Source{Pod: pod, Open: func(ctx context.Context) (grpc.ClientConnInterface, io.Closer, error) {
		client, err := c.Conn(ctx, pod)
		if err != nil {
			return nil, nil, err
		}
		return client.ActiveConnection(), client, nil
	}, Describe: func(err error) error {
		e, _ := c.endpoint(pod) // of a pod that isn't a member, the error is that of Open
		return describeStream(e, err)
	}, Denied: Denied}
}

// MaySnapshot returns the error of etcd if it refuses snapshots to the user, nil if it does not, or if that can't be
// found out. It reads the beginning of a snapshot.
func (c *Cluster) MaySnapshot(ctx context.Context, pod string) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	client, err := c.Conn(ctx, pod)
	if err == nil {
		defer client.Close()
		var stream grpc.ServerStreamingClient[pb.SnapshotResponse]
		if stream, err = pb.NewMaintenanceClient(client.ActiveConnection()).Snapshot(ctx, &pb.SnapshotRequest{}); err == nil {
			_, err = stream.Recv()
		}
	}
	if !Denied(err) {
		return nil
	}
	e, _ := c.endpoint(pod)
	return Explain(e, err)
}

// Authentication is whether a cluster has authentication enabled.
type Authentication string

// The zero value means that it is not known.
const (
	AuthenticationOn  Authentication = "on"
	AuthenticationOff Authentication = "off"
)

// Authentication asks a member that follows a leader. Members before etcd 3.5 don't report it, and only show it by a
// refusal.
func (c *Cluster) Authentication(ctx context.Context, pod string) Authentication {
	client, err := c.Client(ctx, pod)
	if err != nil {
		return ""
	}
	switch s, err := client.AuthStatus(ctx); {
	case Denied(err), err == nil && s.Enabled:
		return AuthenticationOn
	case err == nil:
		return AuthenticationOff
	}
	return ""
}

// describeStream returns the error of a snapshot's stream without the member, which the
// caller names.
func describeStream(e access.Endpoint, err error) error {
	err = Explain(e, err)
	if m, ok := errors.AsType[*MemberError](err); ok {
		return &messageError{m.Message, err}
	}
	return &messageError{describe(e, err), err}
}

// SnapshotOrder returns the members that can serve a snapshot, the best first: those that are up to date with a leader,
// followers before the leader, which has the most load, and members with a higher applied index before those that lag.
// It omits learners, which can be far behind, members with a CORRUPT alarm,
// and members that don't answer.
func SnapshotOrder(members []Member) []Member {
	var fit []Member
	for _, m := range members {
		if m.Err == nil && !m.Learner && !slices.Contains(m.Alarms, "CORRUPT") {
			fit = append(fit, m)
		}
	}
	var applied uint64
	led := false
	for _, m := range fit {
		applied, led = max(applied, m.RaftApplied), led || m.LeaderID != 0
	}
	late := func(m Member) bool { return led && m.LeaderID == 0 || !m.CaughtUpTo(applied) }
	slices.SortStableFunc(fit, func(a, b Member) int {
		return cmp.Or(number(late(a))-number(late(b)), number(a.Leader)-number(b.Leader), cmp.Compare(b.RaftApplied, a.RaftApplied))
	})
	return fit
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
