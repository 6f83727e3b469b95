// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Snapshots returns the text of a cluster's snapshots, with what records its backups. others describes
// those of other clusters.
func Snapshots(c *ui.Console, l *v1alpha1.SnapshotList, others []string, now time.Time) Text {
	return func(w io.Writer, wide bool) error {
		if err := writeBackups(c, w, l, now); err != nil {
			return err
		}
		if len(l.Items) > 0 {
			fmt.Fprintln(w)
			table := storedTable(l, now)
			if l.Schedule != nil {
				table = folderTable(l, now)
			}
			if err := table.Write(c, w, wide); err != nil {
				return err
			}
		}
		for _, note := range others {
			c.Notef("%s", note)
		}
		if len(l.Tasks) > 0 {
			fmt.Fprintln(w)
			if err := taskTable(l, now).Write(c, w, wide); err != nil {
				return err
			}
		}
		for _, m := range l.Missing {
			if err := c.Labelled(c.ErrOut, ui.Cell{Text: "Not listed:"}, 2, m+"."); err != nil {
				return err
			}
		}
		return nil
	}
}

// TakenSnapshots returns the text of the snapshots that a sidecar has taken, which may be none.
func TakenSnapshots(c *ui.Console, l *v1alpha1.SnapshotList, now time.Time) Text {
	return func(w io.Writer, wide bool) error {
		if len(l.Items) == 0 {
			return nil // what happened is reported already
		}
		return storedTable(l, now).Write(c, w, wide)
	}
}

// SnapshotFolder returns the text of the snapshots in a folder.
func SnapshotFolder(c *ui.Console, folder fmt.Stringer, l *v1alpha1.SnapshotList, now time.Time) Text {
	return func(w io.Writer, wide bool) error {
		if len(l.Items) == 0 {
			c.Notef("No snapshot is in %s", folder)
			return nil
		}
		return folderTable(l, now).Write(c, w, wide)
	}
}

// writeBackups prints the store or the schedule, and how far the backups are.
func writeBackups(c *ui.Console, w io.Writer, l *v1alpha1.SnapshotList, now time.Time) error {
	var lines [][2]string
	if s := l.Store; s != nil {
		lines = append(lines, [2]string{"Store:", strings.Trim(strings.Join([]string{s.Provider, s.Container, s.Prefix}, " "), " ")})
	}
	if s := l.Schedule; s != nil {
		lines = append(lines, [2]string{"Schedule:", scheduleText(s, now)})
	}
	if l.BackupReady != "" {
		lines = append(lines, [2]string{"BackupReady:", l.BackupReady})
	}
	for _, lease := range l.Leases {
		lines = append(lines, [2]string{lease.Type + ":", leaseText(lease, now)})
	}
	for _, line := range lines {
		if err := c.Labelled(w, ui.Cell{Text: fmt.Sprintf("%-13s", line[0])}, 14, line[1]); err != nil {
			return err
		}
	}
	return nil
}

func leaseText(l v1alpha1.SnapshotLease, now time.Time) string {
	if l.RenewedAt == nil {
		return fmt.Sprintf("none yet (lease %s)", l.Name)
	}
	text := ago(now, *l.RenewedAt) + " ago"
	if l.Revision > 0 {
		text += fmt.Sprintf(", up to revision %d", l.Revision)
	}
	return text + fmt.Sprintf(" (lease %s)", l.Name)
}

func scheduleText(s *v1alpha1.SnapshotSchedule, now time.Time) string {
	text := fmt.Sprintf("every %s to %s, keeps %d (cronjob %s)", s.Every, s.URL, s.Keep, s.CronJob)
	if s.LastSuccess != nil {
		text += fmt.Sprintf(", last success %s ago", ago(now, *s.LastSuccess))
	}
	if s.Suspended {
		text += ", suspended"
	}
	return text
}

func ago(now time.Time, t metav1.Time) string { return format.Since(now, t.Time) }
