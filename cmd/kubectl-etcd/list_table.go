// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// listTable is the clusters, one a row.
func listTable(found *v1alpha1.EtcdClusterList, namespaces bool, now time.Time) *table {
	t := &table{columns: []column{
		{name: "NAME", shrink: 12}, {name: "FLAVOUR", shrink: 7, spare: 2}, {name: "MEMBERS"}, {name: "SLACK"},
		{name: "VERSION", spare: 3}, {name: "BACKUP"}, {name: "TRAFFIC"}, {name: "AGE", spare: 1},
		{name: "OWNER", wide: true}, {name: "OPERATION", wide: true, shrink: 10},
	}}
	if namespaces {
		t.columns = append([]column{{name: "NAMESPACE", shrink: 9}}, t.columns...)
	}
	for i := range found.Items {
		c := &found.Items[i]
		age := ""
		if c.CreationTimestamp != nil {
			age = since(now, c.CreationTimestamp.Time)
		}
		row := []cell{
			{text: c.Name}, {text: c.Distribution}, membersCell(c), slackCell(c),
			{text: c.Version}, backupCell(c.Backup, now), trafficCell(c.Traffic, now), {text: age},
			{text: ownerText(c)}, {text: c.Operation},
		}
		notSeen(row, c, found.Unseen)
		if namespaces {
			row = append([]cell{{text: c.Namespace}}, row...)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// notSeen puts a question mark for what the user may not see: nothing is not none.
func notSeen(row []cell, c *v1alpha1.EtcdCluster, unseen []v1alpha1.Unseen) {
	if len(blindTo(unseen, c.Distribution)) > 0 && c.Members.Desired > 0 {
		row[2], row[3] = cell{text: fmt.Sprintf("?/%d", c.Members.Desired)}, cell{text: "?"}
	}
	if unseenKind(unseen, "leases.coordination.k8s.io") && latestBackup(c.Backup).IsZero() && c.Backup.Status != "" {
		row[5] = cell{text: "?"}
	}
}

func ownerText(c *v1alpha1.EtcdCluster) string {
	if c.Controller != "" {
		return c.Controller
	}
	return c.Kind + "/" + c.Name
}

func membersCell(c *v1alpha1.EtcdCluster) cell {
	text := fmt.Sprintf("%d/%d", c.Members.Ready, c.Members.Desired)
	if c.Members.Ready < c.Members.Desired {
		return cell{text, yellow}
	}
	return cell{text: text}
}

func slackCell(c *v1alpha1.EtcdCluster) cell {
	switch {
	case c.Quorum.Voters == 0:
		return cell{}
	case c.Quorum.Slack < 0:
		return cell{"no quorum", red}
	case c.Quorum.Slack == 0 && c.Quorum.Voters > 1:
		return cell{"0", yellow}
	}
	return cell{text: strconv.Itoa(c.Quorum.Slack)}
}

// backupCell is the age of the youngest snapshot, and whether the condition
// says that all is not well with them.
func backupCell(b v1alpha1.Backup, now time.Time) cell {
	age := ""
	if latest := latestBackup(b); !latest.IsZero() {
		age = since(now, latest)
	}
	switch {
	case b.Status == string(policy.False):
		return cell{either(age, "never") + " failing", red}
	case b.Status == string(policy.Unknown):
		return cell{either(age, "never") + " unsure", yellow}
	case b.Status == string(policy.Absent):
		return cell{text: age}
	}
	return cell{text: either(age, "never")}
}

func latestBackup(b v1alpha1.Backup) time.Time {
	var latest time.Time
	if b.Full != nil {
		latest = b.Full.Time
	}
	if b.Delta != nil && b.Delta.After(latest) {
		latest = b.Delta.Time
	}
	if b.Last != nil && b.Last.After(latest) {
		latest = b.Last.Time
	}
	return latest
}

func trafficCell(t v1alpha1.Traffic, now time.Time) cell {
	switch t.State {
	case v1alpha1.TrafficCut:
		return cell{cutText(t, now), red}
	case v1alpha1.TrafficOpen:
		return cell{text: "open"}
	case v1alpha1.TrafficUnknown:
		return cell{text: "?"}
	}
	return cell{}
}

// cutText is a cut with its end, "cut 14m more", or with how long it has been over without
// anybody restoring the traffic.
func cutText(t v1alpha1.Traffic, now time.Time) string {
	switch {
	case t.Until == nil:
		return "cut"
	case t.Until.After(now):
		return "cut " + duration.HumanDuration(t.Until.Sub(now)) + " more"
	case t.Until.Unix() == 0:
		return "cut, to be restored"
	}
	return "cut, overdue " + since(now, t.Until.Time)
}

// since is an age as kubectl shows it. Another machine's clock may be ahead.
func since(now, then time.Time) string { return duration.HumanDuration(max(0, now.Sub(then))) }

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
