// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"io"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// Alarms returns the text of the alarms of a cluster.
func Alarms(c *ui.Console, list *v1alpha1.EtcdAlarmList) Text {
	return func(w io.Writer, wide bool) error {
		if len(list.Items) == 0 {
			c.Notef("No alarm is raised in %s %s/%s.", list.Cluster.Kind, list.Cluster.Namespace, list.Cluster.Name)
			return nil
		}
		t := ui.Table{Columns: []ui.Column{{Name: "ALARM"}, {Name: "POD"}, {Name: "MEMBER", Shrink: 16}, {Name: "ID"}}}
		for _, a := range list.Items {
			row := ui.Plain(a.Type, a.Pod, a.Member, a.MemberID)
			row[0].Color = ui.Red
			t.Rows = append(t.Rows, row)
		}
		return t.Write(c, w, wide)
	}
}
