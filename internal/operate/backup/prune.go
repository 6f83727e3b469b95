// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

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
// snapshot with the name stored was verified a moment ago and is never deleted, nor is the newest.
//
// It only deletes snapshots with the names of this cluster whose description has its UID. So it keeps
// those of a cluster of the same name that existed before, or that another Kubernetes cluster has.
func Prune(ctx context.Context, f Folder, n Names, uid types.UID, stored string, keep int, warn func(string, ...any)) ([]string, error) {
	objects, err := f.List(ctx, n.Prefix())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range objects {
		if _, ok := n.Time(o.Name); ok {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names) // by time
	if len(names) <= max(keep, 1) {
		return nil, nil
	}
	ours, err := described(ctx, f, names, uid)
	if err != nil {
		return nil, err
	}
	if others := len(names) - len(ours); others > 0 {
		warn("%d snapshots are kept that have the names of %s/%s, and no description or that of another cluster", others, n.Namespace, n.Name)
	}
	var deleted []string
	for _, name := range ours[:max(len(ours)-max(keep, 1), 0)] {
		if name == stored {
			continue
		}
		if err := f.Delete(ctx, name); err != nil {
			return deleted, fmt.Errorf("the new snapshot is stored, but an old one stays: %w", err)
		}
		deleted = append(deleted, name)
	}
	return deleted, nil
}

// longestDescription limits the description of a snapshot, which has some hundred bytes.
const longestDescription = 1 << 20

// described returns the names whose description has the UID.
func described(ctx context.Context, f Folder, names []string, uid types.UID) ([]string, error) {
	var ours []string
	for _, name := range names {
		text, err := f.ReadSmall(ctx, name+blob.RecordSuffix, longestDescription)
		if err != nil {
			return nil, err
		}
		var s v1alpha1.Snapshot
		if json.Unmarshal(text, &s) == nil && s.Origin != nil && uid != "" && s.Origin.Cluster.UID == string(uid) {
			ours = append(ours, name)
		}
	}
	return ours, nil
}
