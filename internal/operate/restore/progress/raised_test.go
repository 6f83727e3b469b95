// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestRaised: if a step fails while no member may run, another client that started members is the cause.
func TestRaised(t *testing.T) {
	t.Parallel()
	field := func(manager, at, fields string) apitest.Object {
		return apitest.Object{"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "time": at, "fieldsType": "FieldsV1", "fieldsV1": apitest.Object{"f:spec": apitest.Object{fields: apitest.Object{}}}}
	}
	fields := []any{
		field("kubectl-etcd", "2026-01-01T07:00:00Z", "f:replicas"), field("helm", "2026-01-01T07:20:00Z", "f:replicas"), field("other", "2026-01-01T08:00:00Z", "f:template"),
	}
	for _, row := range []struct {
		name     string
		replicas int
		fields   []any
		uses     string
		want     string
	}{
		{"raised", 3, fields, Stopped, "Copy: another client set the replicas of StatefulSet team/main to 3 (field manager helm, at 2026-01-01T07:20:00Z), and no member may run during this step: stop that client first (not the same)"},
		{"raised by an unknown client", 3, nil, Stopped, "StatefulSet team/main to 3, and no member"},
		{"not raised", 0, fields, Stopped, "Copy: not the same"},
		{"a step in which members run", 3, fields, "kept away", "Copy: not the same"},
	} {
		c := operatetest.NewCluster(t)
		sts := c.Get(operatetest.Path("StatefulSet", "main"))
		operatetest.Field(sts, "spec")["replicas"] = row.replicas
		operatetest.Field(sts, "metadata")["managedFields"] = row.fields
		var did []string
		fails := step.Step{Title: "Copy", Uses: []string{row.uses}, Acts: []step.Action{act{"copy", &did, func() error { return errors.New("not the same") }}}}
		j := &Job{Clients: step.Clients{Kube: c.Client(t), Namespace: "team"}, Logf: func(string, ...any) {}, StillHeld: func() error { return nil }, owner: owned}
		if err := j.do(t.Context(), fails); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
