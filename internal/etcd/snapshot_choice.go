// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"google.golang.org/grpc"

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
	}, Describe: describeStream}
}

// describeStream returns the error of a snapshot's stream without the member, which the
// caller names.
func describeStream(err error) error {
	if m, ok := errors.AsType[*MemberError](err); ok {
		return &messageError{m.Message, err}
	}
	return &messageError{describe(Endpoint{}, err), err}
}

// SnapshotOrder returns the members that can serve a snapshot, the best first: followers
// before the leader, which has the most load, and members with a higher applied index before
// those that lag. It omits learners, which can be far behind, members with a CORRUPT alarm,
// and members that don't answer.
func SnapshotOrder(members []Member) []Member {
	var fit []Member
	for _, m := range members {
		if m.Err == nil && !m.Learner && !slices.Contains(m.Alarms, "CORRUPT") {
			fit = append(fit, m)
		}
	}
	slices.SortStableFunc(fit, func(a, b Member) int {
		return cmp.Or(number(a.Leader)-number(b.Leader), cmp.Compare(b.RaftApplied, a.RaftApplied))
	})
	return fit
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
