// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// runListURL lists the snapshots in a folder.
func runListURL(cmd *cobra.Command, a *app.App, url string, store storeFlags) error {
	l, err := store.folder(url)
	if err != nil {
		return err
	}
	out := &v1alpha1.SnapshotList{Store: &v1alpha1.SnapshotStore{Provider: l.Provider(), Container: l.Container(), Prefix: l.Prefix()}}
	if out.Items, err = listFolder(cmd.Context(), l, ""); err != nil {
		return err
	}
	return a.Print(cmd, out, func(w io.Writer, wide bool) error {
		if len(out.Items) == 0 {
			a.Notef("No snapshot is in %s", l)
			return nil
		}
		return folderTable(a, out).Write(a.Console, w, wide)
	})
}

// listFolder returns the snapshots in a folder whose names begin with one of the prefixes, the oldest first.
func listFolder(ctx context.Context, l blob.Location, prefixes ...string) ([]v1alpha1.StoredSnapshot, error) {
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
	text, err := store.ReadSmall(ctx, item.Name+blob.RecordSuffix, longestRecord)
	var s v1alpha1.Snapshot
	if err != nil || json.Unmarshal(text, &s) != nil || s.Origin == nil {
		return
	}
	item.StartRevision, item.LastRevision = s.CompactedRevision, s.Revision
	item.Cluster, item.CreatedAt = &s.Origin.Cluster, s.Origin.TakenAt
}

func folderTable(a *app.App, l *v1alpha1.SnapshotList) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "NAME", Shrink: 20}, {Name: "SIZE", Right: true}, {Name: "REVISION", Right: true}, {Name: "AGE"}, {Name: "CLUSTER", Wide: true},
		{Name: "CREATED", Wide: true},
	}}
	for _, s := range l.Items {
		cluster, revision := "unknown", "unknown"
		if c := s.Cluster; c != nil {
			cluster = c.Kind + " " + c.Namespace + "/" + c.Name
		}
		if s.LastRevision > 0 {
			revision = strconv.FormatInt(s.LastRevision, 10)
		}
		t.Rows = append(t.Rows, ui.Plain(s.Name, policy.Bytes(s.Size), revision, ago(a, s.CreatedAt), cluster, format.Time(s.CreatedAt.Time)))
	}
	return t
}
