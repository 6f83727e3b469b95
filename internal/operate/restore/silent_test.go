// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestSilent walks which members run and which answer. A restore that could not save the data of a running member is
// refused, and what is not saved is in a warning.
func TestSilent(t *testing.T) {
	t.Parallel()
	slow := errors.New("no answer within 5s")
	barred := fmt.Errorf("port-forward: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "main-0", errors.New("no permission")))
	member := func(pod string, revision int64, leader uint64, err error) etcd.Member {
		return etcd.Member{Pod: pod, ID: 1, ClusterID: 7, LeaderID: leader, Revision: revision, Err: err}
	}
	all := func(m func(pod string) etcd.Member) etcd.Survey {
		return etcd.Survey{Members: []etcd.Member{m("main-0"), m("main-1"), m("main-2")}}
	}
	silent := all(func(pod string) etcd.Member { return member(pod, 0, 0, slow) })
	partly := func(leader uint64) etcd.Survey {
		return etcd.Survey{Members: []etcd.Member{member("main-0", 90, leader, nil), member("main-1", 0, 0, slow), member("main-2", 0, 0, slow)}}
	}
	learner := partly(0)
	learner.Members[0].Learner = true
	for _, row := range []struct {
		name           string
		survey         etcd.Survey
		unasked        error
		stopped, split bool
		saved, allow   bool
		again          bool
		refused, warns string
	}{
		{name: "all answer", survey: all(func(pod string) etcd.Member { return member(pod, 90, 1, nil) })},
		{name: "none answers", survey: silent, again: true, refused: "main-0, main-1 and main-2 run, and no member that could provide its data answers (main-0: no answer within 5s; "},
		{name: "none answers, and the user allows it", survey: silent, allow: true, again: true, warns: "the present data is not saved, because main-0, main-1 and main-2 run and do not answer"},
		{name: "none answers, and its data is what is restored", survey: silent, saved: true, again: true},
		{name: "none runs", survey: silent, stopped: true, warns: "the present data is not saved, because no member answers"},
		{name: "no one may ask", survey: all(func(pod string) etcd.Member { return member(pod, 0, 0, barred) }), refused: "no permission"},
		{name: "the credentials can't be read", unasked: errors.New("read Secret team/tls: forbidden"), again: true, refused: "main-0: read Secret team/tls: forbidden"},
		{name: "all answer, and elect a leader", survey: all(func(pod string) etcd.Member { return member(pod, 90, 0, nil) }), again: true},
		{name: "one answers, with a leader", survey: partly(1)},
		{name: "one answers, without a leader", survey: partly(0), again: true, warns: "main-1 and main-2 run and do not answer (main-1: no answer within 5s; main-2: no answer within 5s), and no leader is known: what they have after revision 90"},
		{name: "one answers, and no other runs", survey: partly(0), stopped: true},
		{name: "only a learner answers", survey: learner, again: true, refused: "main-1 and main-2 run"},
		{name: "only a learner answers, and no other runs", survey: learner, stopped: true, warns: "no member that answers can provide it"},
		{name: "of two clusters", survey: partly(0), split: true, warns: "the members belong to several clusters"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, r := operatetest.NewCluster(t), plainRestore()
			for pod := range strings.FieldsSeq("main-0 main-1 main-2") {
				if row.stopped {
					status := operatetest.Field(c.Get(operatetest.Path("Pod", pod)), "status")
					status["containerStatuses"] = []any{apitest.Object{"name": "etcd", "state": apitest.Object{"waiting": apitest.Object{"reason": "CrashLoopBackOff"}}}}
				}
			}
			r.Saved, r.AllowUnsaved = row.saved, row.allow
			r.SetSurvey(row.survey, row.split)
			r.Answers = r.Answers && !r.Saved
			reader := &observe.Reader{Reader: c.Client(t), Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
			if err := r.FindSilent(t.Context(), reader, row.survey, row.unasked); err != nil {
				t.Fatal(err)
			}
			if got := r.Unsure(); got != row.again {
				t.Errorf("asked again: %t, want %t", got, row.again)
			}
			_, warnings, err := Steps(r)
			wantRefusal(t, row.name, err, row.refused)
			if row.refused != "" {
				wantRefusal(t, row.name, err, "kubectl etcd -n team diagnose statefulset/main, then run the same command again. If none of them can ever answer, add --allow-unsaved")
				return
			}
			text := strings.Join(warnings, "\n")
			if !strings.Contains(text, row.warns) || row.warns == "" && strings.Contains(text, "not saved") {
				t.Errorf("the warnings are\n%s\nwant %q", text, row.warns)
			}
		})
	}
}
