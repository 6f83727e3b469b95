// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// listTable returns a table with one row for each cluster.
func listTable(found *v1alpha1.EtcdClusterList, namespaces bool, now time.Time) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "NAME", Shrink: 12}, {Name: "FLAVOUR", Shrink: 7, Spare: 2}, {Name: "MEMBERS"}, {Name: "SLACK"},
		{Name: "VERSION", Spare: 3}, {Name: "BACKUP"}, {Name: "TRAFFIC"}, {Name: "AGE", Spare: 1},
		{Name: "OWNER", Wide: true}, {Name: "OPERATION", Wide: true, Shrink: 10},
	}}
	if namespaces {
		t.Columns = append([]ui.Column{{Name: "NAMESPACE", Shrink: 9}}, t.Columns...)
	}
	for i := range found.Items {
		c := &found.Items[i]
		age := ""
		if c.CreationTimestamp != nil {
			age = format.Since(now, c.CreationTimestamp.Time)
		}
		row := []ui.Cell{
			{Text: c.Name}, {Text: c.Distribution}, membersCell(c), slackCell(c),
			{Text: c.Version}, backupCell(c.Backup, now), trafficCell(c.Traffic, now), {Text: age},
			{Text: ownerText(c)}, {Text: c.Operation},
		}
		markUnseen(row, c, found.Unseen)
		if namespaces {
			row = append([]ui.Cell{{Text: c.Namespace}}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// markUnseen writes "?" into the cells whose facts the user may not read.
func markUnseen(row []ui.Cell, c *v1alpha1.EtcdCluster, unseen []v1alpha1.Unseen) {
	if len(view.MissingEvidence(unseen, c.Distribution)) > 0 && c.Members.Desired > 0 {
		row[2], row[3] = ui.Cell{Text: fmt.Sprintf("?/%d", c.Members.Desired)}, ui.Cell{Text: "?"}
	}
	if view.Missing(unseen, "leases.coordination.k8s.io") && view.LatestBackup(c.Backup).IsZero() && c.Backup.Status != "" {
		row[5] = ui.Cell{Text: "?"}
	}
}

func ownerText(c *v1alpha1.EtcdCluster) string {
	if c.Controller != "" {
		return c.Controller
	}
	return c.Kind + "/" + c.Name
}

func membersCell(c *v1alpha1.EtcdCluster) ui.Cell {
	text := fmt.Sprintf("%d/%d", c.Members.Ready, c.Members.Desired)
	if c.Members.Ready < c.Members.Desired {
		return ui.Cell{Text: text, Color: ui.Yellow}
	}
	return ui.Cell{Text: text}
}

func slackCell(c *v1alpha1.EtcdCluster) ui.Cell {
	switch {
	case c.Quorum.Voters == 0:
		return ui.Cell{}
	case c.Quorum.Slack <= 0 && c.Quorum.Unknown > 0:
		return ui.Cell{Text: "?"}
	case c.Quorum.Slack < 0:
		return ui.Cell{Text: "no quorum", Color: ui.Red}
	case c.Quorum.Slack == 0 && c.Quorum.Voters > 1:
		return ui.Cell{Text: "0", Color: ui.Yellow}
	}
	return ui.Cell{Text: strconv.Itoa(c.Quorum.Slack)}
}

// backupCell returns the age of the latest snapshot, and the condition of the backups if it is
// not True.
func backupCell(b v1alpha1.Backup, now time.Time) ui.Cell {
	age := ""
	if latest := view.LatestBackup(b); !latest.IsZero() {
		age = format.Since(now, latest)
	}
	switch {
	case b.Status == string(policy.False):
		return ui.Cell{Text: cmp.Or(age, "never") + " failing", Color: ui.Red}
	case b.Status == string(policy.Unknown):
		return ui.Cell{Text: cmp.Or(age, "never") + " unsure", Color: ui.Yellow}
	case b.Status == string(policy.Absent):
		return ui.Cell{Text: age}
	}
	return ui.Cell{Text: cmp.Or(age, "never")}
}

func trafficCell(t v1alpha1.Traffic, now time.Time) ui.Cell {
	switch t.State {
	case v1alpha1.TrafficCut:
		return ui.Cell{Text: cutText(t, now), Color: ui.Red}
	case v1alpha1.TrafficOpen:
		return ui.Cell{Text: "open"}
	case v1alpha1.TrafficUnknown:
		return ui.Cell{Text: "?"}
	}
	return ui.Cell{}
}
