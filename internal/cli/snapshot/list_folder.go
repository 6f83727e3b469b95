// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// printFolder prints the snapshots in a folder.
func printFolder(cmd *cobra.Command, a *app.App, folder fmt.Stringer, out *v1alpha1.SnapshotList) error {
	return a.Print(cmd, out, func(w io.Writer, wide bool) error {
		if len(out.Items) == 0 {
			a.Notef("No snapshot is in %s", folder)
			return nil
		}
		return folderTable(a, out).Write(a.Console, w, wide)
	})
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
