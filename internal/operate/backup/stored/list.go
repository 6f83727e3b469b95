// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
)

// ListFolder returns all snapshots in a folder for printing.
func ListFolder(ctx context.Context, l blob.Location) (*v1alpha1.SnapshotList, error) {
	items, err := List(ctx, l, "")
	if err != nil {
		return nil, err
	}
	return &v1alpha1.SnapshotList{Store: &v1alpha1.SnapshotStore{Provider: l.Provider(), Container: l.Container(), Prefix: l.Prefix()}, Items: items}, nil
}

// List returns the snapshots in a folder whose names begin with one of the prefixes, the oldest first.
func List(ctx context.Context, l blob.Location, prefixes ...string) ([]v1alpha1.StoredSnapshot, error) {
	store, err := blob.Open(ctx, l)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var objects []blob.Object
	for _, prefix := range prefixes {
		found, err := store.List(ctx, prefix)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	records := map[string]bool{}
	for _, o := range objects {
		records[o.Name] = true
	}
	items := []v1alpha1.StoredSnapshot{}
	for _, o := range objects {
		if !strings.HasSuffix(o.Name, ".db") {
			continue
		}
		item := v1alpha1.StoredSnapshot{Type: "Full", Name: o.Name, Size: o.Size, CreatedAt: metav1.NewTime(o.Modified)}
		if records[o.Name+blob.RecordSuffix] {
			describe(ctx, store, &item)
		}
		items = append(items, item)
	}
	slices.SortStableFunc(items, func(a, b v1alpha1.StoredSnapshot) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	return items, nil
}

// describe adds what the description of a snapshot has. A description that can't be read adds nothing.
func describe(ctx context.Context, store *blob.Store, item *v1alpha1.StoredSnapshot) {
	text, err := store.ReadSmall(ctx, item.Name+blob.RecordSuffix, longestDescription)
	var s v1alpha1.Snapshot
	if err != nil || json.Unmarshal(text, &s) != nil || s.Origin == nil {
		return
	}
	item.StartRevision, item.LastRevision = s.CompactedRevision, s.Revision
	item.Cluster, item.CreatedAt = &s.Origin.Cluster, s.Origin.TakenAt
}
