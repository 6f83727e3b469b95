// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
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

// TestResumeOfHeld: a change that is not continued, since etcd-webhook has held a rollout before it changed anything, names
// how to end it. It names that only if the undoing isn't refused, too.
func TestResumeOfHeld(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{true, false} {
		w := newWriting(t, nil)
		w.edit(setAt, func(o apitest.Object) {
			record := annotation.RolloutRecord{Author: w.j.Found.Strategy, Value: rollout.Value{Partition: 3}, Since: time.Now(), Reason: "held"}
			texts, err := record.Encode()
			if err != nil {
				t.Fatal(err)
			}
			all := apitest.Object{}
			for key, text := range texts {
				all[key] = text
			}
			if held {
				operatetest.Field(o, "metadata")["annotations"] = all
			}
			operatetest.Field(o, "spec")["updateStrategy"] = apitest.Object{"type": "RollingUpdate", "rollingUpdate": apitest.Object{"partition": 3}}
		})
		replica := w.s.Ordinals[2]
		w.j.Record = membership.Record{Operation: membership.Replace, Target: 3, Replicas: 3, Ordinal: 2, Member: w.s.memberAt(2), UID: replica.UID, Claims: replica.Claims}
		w.j.journal.Object = w.s.sts.UID
		_, err := w.m.PlanResume(t.Context(), w.j, false)
		if err == nil || strings.Contains(err.Error(), "kubectl etcd member replace statefulset/main main-2 --abort -n team") != held {
			t.Errorf("held %t: %v", held, err)
		}
		if _, err := w.m.PlanResume(t.Context(), w.j, true); (err == nil) != held {
			t.Errorf("undone, held %t: %v", held, err)
		}
	}
}

// memberAt returns the ID of the member of an ordinal, 0 for none.
func (s *observation) memberAt(ordinal int) uint64 {
	for _, p := range s.Members {
		if p.Ordinal == ordinal {
			return p.ID
		}
	}
	return 0
}
