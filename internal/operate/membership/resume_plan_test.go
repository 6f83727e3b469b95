// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestPlanResumeValues: the plan has what is restored. That is what the mark of the StatefulSet has, and not the journal.
func TestPlanResumeValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		of   membership.Operation
		undo bool
		want string
	}{
		{membership.Replace, false, "at its end, it restores --initial-cluster=own"},
		{membership.Replace, true, "undoing restores --initial-cluster=own"},
		{membership.ScaleOut, true, "undoing restores --initial-cluster=own"},
		{membership.ScaleOut, false, ""},
		{membership.ScaleIn, true, ""},
	} {
		w := newWriting(t, nil)
		of := w.j.Found
		of.Args.Cluster = []string{"own"}
		mark, err := of.mark()
		if err != nil {
			t.Fatal(err)
		}
		w.edit(setAt, func(o apitest.Object) {
			operatetest.Field(o, "metadata")["annotations"] = apitest.Object{v1alpha1.MemberChangeAnnotation: mark}
		})
		w.j.Operation, w.j.Found.Args.Cluster, w.j.journal.Object = row.of, []string{canary}, w.s.sts.UID
		p, err := w.m.PlanResume(t.Context(), w.j, row.undo)
		if err != nil {
			t.Fatal(err)
		}
		facts := strings.Join(p.Facts, "; ")
		if row.want != "" && !strings.Contains(facts, row.want) || row.want == "" && strings.Contains(facts, "=own") || strings.Contains(facts, canary) {
			t.Errorf("%s, undo %t: %s, want %s", row.of, row.undo, facts, row.want)
		}
	}
}
