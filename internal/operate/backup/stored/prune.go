// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
)

// Folder is what Prune needs of a store of snapshots.
type Folder interface {
	List(ctx context.Context, prefix string) ([]blob.Object, error)
	ReadSmall(ctx context.Context, name string, limit int64) ([]byte, error)
	Delete(ctx context.Context, name string) error
}

// Prune deletes the oldest snapshots of a cluster until keep are left, and returns their names. The
// snapshot saved, which has the name stored, was verified a moment ago and is never deleted, nor is the newest.
//
// It only deletes snapshots with the names of this cluster whose description has its UID and etcd's ID of the
// cluster. So it keeps those of a cluster of the same name that existed before, or that another Kubernetes
// cluster has. It also keeps those from before the last time that the revision became lower, and those with a later time
// in their names than the present one.
func Prune(ctx context.Context, f Folder, n Names, saved *v1alpha1.Snapshot, stored string, keep int, warn func(string, ...any)) ([]string, error) {
	names, others, err := n.stored(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, of := range slices.Sorted(maps.Keys(others)) {
		warn("%s", n.NotDeleted(others[of], of))
	}
	if at := slices.Index(names, stored); at >= 0 && at+1 < len(names) {
		// They don't show what was before the present one.
		warn("%d snapshots have a later time in their names than %s: a node's clock was or is wrong. They are kept until that time", len(names)-at-1, stored)
		names = names[:at+1]
	}
	if len(names) <= max(keep, 1) {
		return nil, nil
	}
	ours, err := described(ctx, f, names, saved)
	if err != nil {
		return nil, err
	}
	if others := len(names) - len(ours); others > 0 {
		warn("%d snapshots are kept that have the names of %s/%s, and no description or that of another cluster", others, n.Namespace, n.Name)
	}
	ours = n.sameData(ours, stored, saved.Revision, warn)
	var deleted []string
	for _, s := range ours[:max(len(ours)-max(keep, 1), 0)] {
		if s.name == stored {
			continue
		}
		if err := f.Delete(ctx, s.name); err != nil {
			return deleted, err
		}
		deleted = append(deleted, s.name)
	}
	return deleted, nil
}

// stored returns the names in the folder that are those of the cluster, the oldest first, and how many are of other
// clusters of its name, by their UIDs.
func (n Names) stored(ctx context.Context, f Folder) (names []string, others map[string]int, err error) {
	times := map[string]time.Time{}
	others = map[string]int{}
	for _, prefix := range n.Every() {
		objects, err := f.List(ctx, prefix)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range objects {
			if t, ok := n.Time(o.Name); ok {
				times[o.Name] = t
			} else if of := n.Other(o.Name); of != "" {
				others[of]++
			}
		}
	}
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(times[a].Compare(times[b]), cmp.Compare(a, b)) }), others, nil
}

// longestDescription limits the description of a snapshot, which has some hundred bytes.
const longestDescription = 1 << 20

// candidate is a stored snapshot of the cluster.
type candidate struct {
	name     string
	revision int64
}

// described returns the snapshots whose description has the UID and etcd's ID of the cluster of saved.
func described(ctx context.Context, f Folder, names []string, saved *v1alpha1.Snapshot) ([]candidate, error) {
	var ours []candidate
	for _, name := range names {
		text, err := f.ReadSmall(ctx, name+blob.RecordSuffix, longestDescription)
		if err != nil {
			return nil, err
		}
		var s v1alpha1.Snapshot
		if json.Unmarshal(text, &s) == nil && sameCluster(s.Origin, saved.Origin) {
			ours = append(ours, candidate{name, s.Revision})
		}
	}
	return ours, nil
}

// sameCluster reports whether two snapshots are of one cluster. Unknown IDs are never the same.
func sameCluster(a, b *v1alpha1.SnapshotOrigin) bool {
	return a != nil && b != nil && a.Cluster.UID != "" && a.ClusterID != "" && a.Cluster.UID == b.Cluster.UID && a.ClusterID == b.ClusterID
}

// sameData returns the newest of the snapshots, back to the last time that the revision became lower. A revision
// only becomes lower if data was lost, or restored from a snapshot. Etcd's ID of the cluster does not show
// that: members that bootstrap from the same flags compute the same ID.
func (n Names) sameData(all []candidate, stored string, lowest int64, warn func(string, ...any)) []candidate {
	for i, s := range slices.Backward(all) {
		switch {
		case s.name == stored:
		case s.revision > lowest:
			warn("%d snapshots are kept that are older than a loss of data or a restore of %s/%s: %s has revision %d, and a later snapshot has %d", i+1, n.Namespace, n.Name, s.name, s.revision, lowest)
			return all[i+1:]
		default:
			lowest = s.revision
		}
	}
	return all
}
