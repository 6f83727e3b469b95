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

// SnapshotSource is the member of a pod, over a connection of its own.
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
		return &messageError{m.Words, err}
	}
	return &messageError{words(Endpoint{}, err), err}
}

// SnapshotOrder is the members that a snapshot may be taken of, the best first:
// followers before the leader, which has the most to do, and who has applied most
// before who lags. Learners may be far behind, and what has raised CORRUPT is no
// backup: neither is among them, nor is who doesn't answer.
func SnapshotOrder(members []Member) []Member {
	var fit []Member
	for _, m := range members {
		if m.Err == nil && !m.Learner && !slices.Contains(m.Alarms, "CORRUPT") {
			fit = append(fit, m)
		}
	}
	slices.SortStableFunc(fit, func(a, b Member) int {
		return cmp.Or(yes(a.Leader)-yes(b.Leader), cmp.Compare(b.RaftApplied, a.RaftApplied))
	})
	return fit
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}
