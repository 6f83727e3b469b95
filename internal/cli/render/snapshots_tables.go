// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func folderTable(l *v1alpha1.SnapshotList, now time.Time) *ui.Table {
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
		t.Rows = append(t.Rows, ui.Plain(s.Name, policy.Bytes(s.Size), revision, ago(now, s.CreatedAt), cluster, format.Time(s.CreatedAt.Time)))
	}
	return t
}

func storedTable(l *v1alpha1.SnapshotList, now time.Time) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "TYPE"}, {Name: "FROM REVISION", Right: true}, {Name: "TO REVISION", Right: true}, {Name: "AGE"}, {Name: "NAME", Shrink: 20},
		{Name: "CREATED", Wide: true},
	}}
	for _, s := range l.Items {
		kind := s.Type
		if s.Final {
			kind += " (final)"
		}
		t.Rows = append(t.Rows, ui.Plain(kind, strconv.FormatInt(s.StartRevision, 10), strconv.FormatInt(s.LastRevision, 10), ago(now, s.CreatedAt), s.Name,
			format.Time(s.CreatedAt.Time)))
	}
	return t
}

func taskTable(l *v1alpha1.SnapshotList, now time.Time) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{{Name: "TASK"}, {Name: "TYPE"}, {Name: "STATE"}, {Name: "AGE"}, {Name: "MESSAGE", Shrink: 20}}}
	for _, s := range l.Tasks {
		t.Rows = append(t.Rows, ui.Plain(s.Name, s.Type, s.State, ago(now, s.CreatedAt), s.Message))
	}
	return t
}
