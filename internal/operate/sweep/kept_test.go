// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/olddata"
)

// TestDeadlines: each record shows whether it is due, or when it will be.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	operatetest.Field(s.Get(operatetest.Path("StatefulSet", "main")), "metadata")["annotations"] = apitest.Object{
		v1alpha1.KeptDataAnnotation: "20260101T000000 until=2026-01-02T00:00:00Z, 20260201T000000 until=2999-01-01T00:00:00Z, 20260301T000000",
	}
	state, err := s.Observe(t.Context(), Scope{Namespace: "team"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "that of 2026-01-01T00:00:00Z has been due since 2026-01-02T00:00:00Z, that of 2026-02-01T00:00:00Z will be due at 2999-01-01T00:00:00Z, that of 2026-03-01T00:00:00Z has no deadline"
	var got []string
	for _, i := range state.Left() {
		got = append(got, i.Result.Message)
	}
	if !strings.HasSuffix(strings.Join(got, "; "), want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestKept: old data is listed, and removed by Discard alone, when its deadline has passed. The members are only asked
// then.
func TestKept(t *testing.T) {
	t.Parallel()
	const due, ahead, never = "20260101T000000 until=2026-01-02T00:00:00Z", "20260101T000000 until=2999-01-01T00:00:00Z", "20260101T000000"
	const byHand = "KeptData | statefulset/main | ByHand | OldDataKept | kubectl etcd snapshot restore statefulset/main --discard -n team --context dev --etcd-user root"
	for _, row := range []struct {
		name, record, later string
		well                bool
		want                string
		surveys             int
		discards            string
	}{
		{name: "none", record: "not a record"},
		{name: "no deadline", record: never, want: byHand},
		{name: "the deadline has not passed", record: ahead, want: byHand},
		{name: "not healthy", record: due, surveys: 1, want: "KeptData | statefulset/main | ByHand | KeptDataNeeded | kubectl etcd diagnose statefulset/main -n team --context dev --etcd-user root"},
		{
			name: "the deadline has passed", record: due, well: true, surveys: 1, discards: "StatefulSet team/main, " + due + ", dry true; StatefulSet team/main, " + due + ", dry false",
			want: "KeptData | statefulset/main | Remove | KeptDataDue | kubectl etcd sweep --remove -n team --context dev --etcd-user root",
		},
		{
			name: "another deadline passes after the question", record: due, later: due + ",20260103T000000 until=2026-01-04T00:00:00Z", well: true, surveys: 1,
			discards: "StatefulSet team/main, " + due + ", dry true; StatefulSet team/main, " + due + ", dry false",
			want:     "KeptData | statefulset/main | Remove | KeptDataDue | kubectl etcd sweep --remove -n team --context dev --etcd-user root",
		},
	} {
		s := newStage(t)
		var discards []string
		s.Discard = func(_ context.Context, o owner.Owner, due olddata.Records, dry bool) error {
			discards = append(discards, fmt.Sprintf("%s, %s, dry %t", o, annotation.FormatKeptData(due), dry))
			return nil
		}
		list := s.Survey
		s.Survey = func(ctx context.Context, o owner.Owner) (etcd.Survey, error) {
			survey, err := list(ctx, o)
			for _, l := range survey.List {
				if row.well {
					survey.Members = append(survey.Members, etcd.Member{Pod: l.Pod, ID: l.ID, Leader: l.ID == 1, LeaderID: 1, ClusterID: 7})
				}
			}
			return survey, err
		}
		operatetest.Field(s.Get(operatetest.Path("StatefulSet", "main")), "metadata")["annotations"] = apitest.Object{v1alpha1.KeptDataAnnotation: row.record}
		if got := s.left(t, Scope{Namespace: "team"}); got != row.want || s.surveys != row.surveys {
			t.Errorf("%s: %q after %d surveys, want %q", row.name, got, s.surveys, row.want)
		}
		items := s.removable(t)
		if err := s.Try(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		if row.later != "" {
			operatetest.Field(s.Get(operatetest.Path("StatefulSet", "main")), "metadata")["annotations"] = apitest.Object{v1alpha1.KeptDataAnnotation: row.later}
		}
		if err := s.Remove(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(discards, "; "); got != row.discards {
			t.Errorf("%s: %q, want %q", row.name, got, row.discards)
		}
		if s.Get(operatetest.Path("StatefulSet", "main")) == nil {
			t.Errorf("%s: the StatefulSet is deleted", row.name)
		}
	}
}
