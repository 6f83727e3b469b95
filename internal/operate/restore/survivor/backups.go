// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Backups are the leases of a cluster's backups. Err is why they can't be read.
type Backups struct {
	Leases []backupstore.Lease
	Err    error
}

// ReadBackups reads how far the backups of a cluster are.
func ReadBackups(ctx context.Context, reader *observe.Reader, o owner.Owner) Backups {
	leases, err := backupstore.Leases(ctx, reader, o)
	return Backups{leases, err}
}

// newest returns the lease with the highest revision, the zero value for none.
func (b Backups) newest() (newest backupstore.Lease) {
	for _, l := range b.Leases {
		if l.Revision > newest.Revision {
			newest = l
		}
	}
	return newest
}

// Newer returns the highest revision of the backups if it is above a revision, and 0 otherwise.
func (b Backups) Newer(revision int64) int64 {
	if newest := b.newest().Revision; newest > revision {
		return newest
	}
	return 0
}

// Against compares the source with the backups. It refuses to restore the source if a backup has a higher revision, unless
// the user has chosen the source. fact is for the plan, empty for none. A member that was cut off from the others has less
// than what they stored in a backup since.
func (s Set) Against(o owner.Owner, b Backups) (fact string, err error) {
	newer := b.Newer(s.Source.Revision)
	switch {
	case b.Err != nil:
		return fmt.Sprintf("it is not known whether a backup has more than %s: %v", s.Source.Pod, b.Err), nil //nolint:nilerr // the user decides
	case newer == 0:
		return "", nil
	case s.Chosen:
		return fmt.Sprintf("the backups have revision %d, by Lease %s: what only they have after revision %d is not restored", newer, b.newest().Name, s.Source.Revision), nil
	}
	return "", Refuse(o, "%s has revision %d, and the backups have revision %d, by Lease %s: data that only the backups have would be lost\n"+
		"  - To list the backups: kubectl etcd snapshot list %s -n %s\n"+
		"  - To restore one: kubectl etcd snapshot restore FILE %s -n %s%s\n"+
		"  - To restore the data of %s anyway, for example because the backups are of an earlier cluster: kubectl etcd recover %s -n %s --member %s, with your other flags",
		s.Source.Pod, s.Source.Revision, newer, b.newest().Name, o.Target(), o.Namespace, o.Target(), o.Namespace, b.deltas(), s.Source.Pod, o.Target(), o.Namespace, s.Source.Pod)
}

// deltas describes how far the full backups are, if the newest is a delta. It is empty otherwise.
func (b Backups) deltas() string {
	if b.newest().Type != "Delta" {
		return ""
	}
	full := int64(0)
	for _, l := range b.Leases {
		if l.Type == "Full" {
			full = l.Revision
		}
	}
	if full == 0 {
		return " (FILE is a full snapshot, and no Lease shows that there is one; only etcd-backup-restore applies the deltas after it)"
	}
	return fmt.Sprintf(" (FILE is a full snapshot, of which the newest has revision %d; only etcd-backup-restore applies the deltas after it)", full)
}
