// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
)

func writeSnapshots(a *app.App, w io.Writer, l *v1alpha1.SnapshotList, wide bool) error {
	var lines [][2]string
	if s := l.Store; s != nil {
		lines = append(lines, [2]string{"Store:", strings.Trim(strings.Join([]string{s.Provider, s.Container, s.Prefix}, " "), " ")})
	}
	if s := l.Schedule; s != nil {
		lines = append(lines, [2]string{"Schedule:", scheduleText(a, s)})
	}
	if l.BackupReady != "" {
		lines = append(lines, [2]string{"BackupReady:", l.BackupReady})
	}
	for _, lease := range l.Leases {
		lines = append(lines, [2]string{lease.Type + ":", leaseText(a, lease)})
	}
	for _, line := range lines {
		if err := a.Labelled(w, ui.Cell{Text: fmt.Sprintf("%-13s", line[0])}, 14, line[1]); err != nil {
			return err
		}
	}
	if len(l.Items) > 0 {
		fmt.Fprintln(w)
		table := storedTable(a, l)
		if l.Schedule != nil {
			table = folderTable(a, l)
		}
		if err := table.Write(a.Console, w, wide); err != nil {
			return err
		}
	}
	for _, note := range stored.Others(l) {
		a.Notef("%s", note)
	}
	if len(l.Tasks) > 0 {
		fmt.Fprintln(w)
		if err := taskTable(a, l).Write(a.Console, w, wide); err != nil {
			return err
		}
	}
	for _, m := range l.Missing {
		if err := a.Labelled(a.ErrOut, ui.Cell{Text: "Not listed:"}, 2, m+"."); err != nil {
			return err
		}
	}
	return nil
}

func leaseText(a *app.App, l v1alpha1.SnapshotLease) string {
	if l.RenewedAt == nil {
		return fmt.Sprintf("none yet (lease %s)", l.Name)
	}
	text := ago(a, *l.RenewedAt) + " ago"
	if l.Revision > 0 {
		text += fmt.Sprintf(", up to revision %d", l.Revision)
	}
	return text + fmt.Sprintf(" (lease %s)", l.Name)
}

func scheduleText(a *app.App, s *v1alpha1.SnapshotSchedule) string {
	text := fmt.Sprintf("every %s to %s, keeps %d (cronjob %s)", s.Every, s.URL, s.Keep, s.CronJob)
	if s.LastSuccess != nil {
		text += fmt.Sprintf(", last success %s ago", ago(a, *s.LastSuccess))
	}
	if s.Suspended {
		text += ", suspended"
	}
	return text
}

func ago(a *app.App, t metav1.Time) string { return format.Since(a.Clock.Now(), t.Time) }

func storedTable(a *app.App, l *v1alpha1.SnapshotList) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "TYPE"}, {Name: "FROM REVISION", Right: true}, {Name: "TO REVISION", Right: true}, {Name: "AGE"}, {Name: "NAME", Shrink: 20},
		{Name: "CREATED", Wide: true},
	}}
	for _, s := range l.Items {
		kind := s.Type
		if s.Final {
			kind += " (final)"
		}
		t.Rows = append(t.Rows, ui.Plain(kind, strconv.FormatInt(s.StartRevision, 10), strconv.FormatInt(s.LastRevision, 10), ago(a, s.CreatedAt), s.Name,
			format.Time(s.CreatedAt.Time)))
	}
	return t
}

func taskTable(a *app.App, l *v1alpha1.SnapshotList) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{{Name: "TASK"}, {Name: "TYPE"}, {Name: "STATE"}, {Name: "AGE"}, {Name: "MESSAGE", Shrink: 20}}}
	for _, s := range l.Tasks {
		t.Rows = append(t.Rows, ui.Plain(s.Name, s.Type, s.State, ago(a, s.CreatedAt), s.Message))
	}
	return t
}
