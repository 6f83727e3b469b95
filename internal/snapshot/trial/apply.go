// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Member is the member to which a copied data directory belongs.
type Member struct {
	ID, ClusterID uint64
	// Version is that of the etcd that applied the log.
	Version string
}

// Apply starts etcd from a copy of a member's data directory as a cluster of one, so that it applies what is known to be
// committed in the log, and stops it. The database of the copy has all of that then. dir is the directory for the sockets of
// etcd. log is the directory of the log, empty if it is in data.
func Apply(ctx context.Context, dir, data, log, program string) (m Member, err error) {
	args := []string{"--force-new-cluster"}
	if log != "" {
		args = append(args, "--wal-dir", log)
	}
	s, err := start(dir, data, program, args...)
	if err != nil {
		return m, err
	}
	s.describe = notApplied
	m, err = s.apply(ctx)
	if err != nil {
		err = s.why(ctx, err)
	}
	// etcd writes what it has applied to the database when it stops.
	switch inTime := s.stop(startTimeout); {
	case err != nil:
	case !inTime:
		err = fmt.Errorf("etcd did not stop within %s", policy.Duration(startTimeout))
	case s.exit != nil && s.exit.Error() != "signal: interrupt": // etcd ends itself by the signal that it got
		err = notApplied("etcd did not stop as it should", s.exit, s.printed())
	}
	return m, cmp.Or(context.Cause(ctx), err)
}

// apply waits until all entries are applied.
func (s *server) apply(ctx context.Context) (m Member, err error) {
	c, status, err := s.connect(ctx)
	if err != nil {
		return m, err
	}
	defer c.Close()
	err = s.poll(ctx, "apply its log", func(ctx context.Context) bool {
		now, err := c.Status(ctx, endpoint)
		return err == nil && now.RaftAppliedIndex >= now.RaftIndex
	})
	if err != nil {
		return m, err
	}
	m = Member{ID: status.Header.MemberId, ClusterID: status.Header.ClusterId, Version: status.Version}
	return m, nil
}

// notApplied is the failure of an etcd that was started from a copy.
func notApplied(doing string, err error, printed string) error {
	return fmt.Errorf("%s. The volume is unchanged. To try again, name a program etcd of the members' release with --etcd, or set TMPDIR to a directory with room for the data", ended(doing, err, printed))
}
