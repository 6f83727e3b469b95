// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Newest returns the URL of the newest snapshot if the argument is the URL of a folder. It returns the URL of a snapshot as
// it is, and nothing for an argument that is no URL.
func (s Stores) Newest(ctx context.Context, arg string) (string, error) {
	if !blob.IsURL(arg) {
		return "", nil
	}
	l, err := blob.ParseObject(arg)
	if err != nil || l.Name != "" {
		return arg, err
	}
	if l, err = l.Trusting(s.CA); err != nil {
		return "", err
	}
	items, err := List(ctx, l, "")
	return s.lastOf(l, items, err)
}

// NewestOf returns the URL of the newest snapshot of a cluster in the folder of its schedule.
func (s Stores) NewestOf(ctx context.Context, o owner.Owner, folder blob.Location) (string, error) {
	items, others, err := s.Scheduled(ctx, o, folder)
	if len(items) == 0 && len(others) > 0 {
		last := others[len(others)-1]
		s.Warnf("%s with UID %s has no snapshot yet. The newest one is of another cluster of this name, with UID %s: an earlier one, or one of another Kubernetes cluster.", o, o.UID, last.Cluster.UID)
		items = others
	}
	return s.lastOf(folder, items, err)
}

// clockSkew is how far in the future the time of a snapshot may be.
const clockSkew = time.Hour

// lastOf returns the URL of the last snapshot of a folder's list. A snapshot with a later time than now is from a
// wrong clock, and does not show which one is the newest.
func (s Stores) lastOf(l blob.Location, items []v1alpha1.StoredSnapshot, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if len(items) == 0 {
		return "", errors.New("no snapshot is in " + l.String())
	}
	ahead := slices.IndexFunc(items, func(i v1alpha1.StoredSnapshot) bool { return i.CreatedAt.After(s.Clock.Now().Add(clockSkew)) })
	switch {
	case ahead == 0:
		return "", fmt.Errorf("the newest snapshot in %s is not known: the times of all snapshots there are in the future. Correct this machine's clock, or name the snapshot", l)
	case ahead > 0:
		s.Warnf("A clock was or is wrong: %s in %s with a time in the future, from %s on, can't count as the newest.", policy.Count(len(items)-ahead, "snapshot"), l, items[ahead].Name)
		items = items[:ahead]
	}
	url := l.At(items[len(items)-1].Name).String()
	s.Notef("The newest snapshot is %s", url)
	return url, nil
}
