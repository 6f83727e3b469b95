// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
)

// A compaction reaches the members one after the other and takes a while on each. So hashes
// that differ are requested again.
const (
	hashTries = 4
	hashPause = time.Second
)

// Hashes are voters' hashes of all keys at one revision.
type Hashes struct {
	// Revision is the lowest revision that one of them had applied.
	Revision int64
	// Members are in the order of the voters.
	Members []Hash
}

// Hash is the hash of one member. Hashes are comparable if their compact revisions are
// equal.
type Hash struct {
	Pod             string
	Hash            uint32
	CompactRevision int64
	// Err is the error if there is no hash.
	Err error
}

// agree reports whether all members have returned the same hash. It is false without
// members.
func (h Hashes) agree() bool {
	for _, m := range h.Members {
		if m.Err != nil || m.Hash != h.Members[0].Hash || m.CompactRevision != h.Members[0].CompactRevision {
			return false
		}
	}
	return len(h.Members) > 0
}

// Groups returns the members by hash, in the order of the members: one group if all data is
// equal. It leaves out the members that have no hash or one of another history, which a
// compaction that is under way makes, and returns them with the reason.
func (h Hashes) Groups() (groups [][]Hash, left []Incomparable) {
	compacted := h.compacted()
	for _, m := range h.Members {
		switch {
		case m.Err != nil:
			left = append(left, Incomparable{Hash: m})
			continue
		case m.CompactRevision != compacted:
			left = append(left, Incomparable{m, compacted})
			continue
		}
		at := slices.IndexFunc(groups, func(g []Hash) bool { return g[0].Hash == m.Hash })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], m)
	}
	return groups, left
}

// compacted returns the revision up to which most members have compacted, of several that of the first member.
func (h Hashes) compacted() int64 {
	count, most := map[int64]int{}, int64(0)
	for _, m := range h.Members {
		if m.Err == nil {
			count[m.CompactRevision]++
		}
	}
	for _, m := range h.Members {
		if m.Err == nil && count[m.CompactRevision] > count[most] {
			most = m.CompactRevision
		}
	}
	return most
}

// Incomparable is a member without a hash, or with one of another history than that of most
// members, which have compacted up to Other.
type Incomparable struct {
	Hash

	Other int64
}

// Hashes requests the hashes of all keys from voters, at the revision of their last status,
// and repeats that if they differ. Each member reads its whole database. Learners refuse.
// Hashes fails only if the context ends.
func (c *Cluster) Hashes(ctx context.Context, voters []Member, timer clock.Clock) (Hashes, error) {
	var h, differing Hashes
	differed := 0
	now := append([]Member(nil), voters...)
	for try := range hashTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return h, context.Cause(ctx)
			case <-timer.After(hashPause):
			}
			for i := range now {
				now[i] = c.Status(ctx, now[i].Pod)
			}
		}
		if h = c.hashAll(ctx, now); h.agree() {
			return h, context.Cause(ctx)
		}
		if groups, _ := h.Groups(); len(groups) > 1 {
			differing = h
			differed++
		}
	}
	if differed > 1 { // a later failure doesn't take back what was seen twice
		h = differing
	}
	return h, context.Cause(ctx)
}

// hashAll requests the hashes at the lowest revision that every voter has applied.
func (c *Cluster) hashAll(ctx context.Context, voters []Member) Hashes {
	h := Hashes{Members: make([]Hash, len(voters))}
	for _, m := range voters {
		if m.Err == nil && (h.Revision == 0 || m.Revision < h.Revision) {
			h.Revision = m.Revision
		}
	}
	var wait sync.WaitGroup
	for i, m := range voters {
		wait.Go(func() { h.Members[i] = c.hash(ctx, m, h.Revision) })
	}
	wait.Wait()
	return h
}

func (c *Cluster) hash(ctx context.Context, m Member, revision int64) Hash {
	h := Hash{Pod: m.Pod, Err: m.Err}
	if h.Err != nil {
		return h
	}
	client, err := c.Client(ctx, m.Pod)
	if err != nil {
		h.Err = err
		return h
	}
	connection := client.ActiveConnection()
	if connection == nil {
		h.Err = errors.New("the connection is closed")
		return h
	}
	// The client's own method opens another connection for each call.
	r, err := pb.NewMaintenanceClient(connection).HashKV(ctx, &pb.HashKVRequest{Revision: revision})
	if err != nil {
		h.Err = fmt.Errorf("hash at revision %d: %w", revision, Explain(access.Endpoint{Pod: m.Pod}, err))
		return h
	}
	h.Hash, h.CompactRevision = r.GetHash(), r.GetCompactRevision()
	return h
}
