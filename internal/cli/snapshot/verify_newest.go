// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// newest returns the file or URL of the snapshot that an argument names: itself, or the newest one of a folder
// or of a cluster's schedule.
func newest(ctx context.Context, a *app.App, arg string, flags storeFlags) (string, error) {
	if blob.IsURL(arg) {
		l, err := blob.ParseObject(arg)
		if err != nil || l.Name != "" {
			return arg, err
		}
		if l, err = l.Trusting(flags.ca); err != nil {
			return "", err
		}
		items, err := listFolder(ctx, l, "")
		return lastOf(a, l, items, err)
	}
	if _, err := os.Stat(arg); err == nil {
		return arg, nil
	}
	c, err := a.Owner(ctx, arg)
	if err != nil {
		return "", fmt.Errorf("there is no file %s: %w", arg, err)
	}
	return newestOf(ctx, a, c, flags)
}

// newestOf returns the URL of the newest snapshot in the folder of a cluster's schedule.
func newestOf(ctx context.Context, a *app.App, c *app.Cluster, flags storeFlags) (string, error) {
	found, err := schedule.Readable(ctx, c.Kube, c.Owner)
	if err != nil {
		return "", err
	}
	items, others, err := scheduled(ctx, c, *found, flags)
	if len(items) == 0 && len(others) > 0 {
		last := others[len(others)-1]
		a.Warn("%s with UID %s has no snapshot yet. The newest one is of another cluster of this name, with UID %s: an earlier one, or one of another Kubernetes cluster.", c.Owner, c.UID, last.Cluster.UID)
		items = others
	}
	return lastOf(a, found.To, items, err)
}

// clockSkew is how far in the future the time of a snapshot may be.
const clockSkew = time.Hour

// lastOf returns the URL of the last snapshot of a folder's list. A snapshot with a later time than now is from a
// wrong clock, and does not show which one is the newest.
func lastOf(a *app.App, l blob.Location, items []v1alpha1.StoredSnapshot, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if len(items) == 0 {
		return "", errors.New("no snapshot is in " + l.String())
	}
	ahead := slices.IndexFunc(items, func(s v1alpha1.StoredSnapshot) bool { return s.CreatedAt.After(a.Clock.Now().Add(clockSkew)) })
	switch {
	case ahead == 0:
		return "", fmt.Errorf("the newest snapshot in %s is not known: the times of all snapshots there are in the future. Correct this machine's clock, or name the snapshot", l)
	case ahead > 0:
		a.Warn("A clock was or is wrong: %s in %s with a time in the future, from %s on, can't count as the newest.", policy.Count(len(items)-ahead, "snapshot"), l, items[ahead].Name)
		items = items[:ahead]
	}
	url := l.At(items[len(items)-1].Name).String()
	a.Notef("The newest snapshot is %s", url)
	return url, nil
}
