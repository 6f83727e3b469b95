// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"errors"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestPlans: each plan carries what was decided, so that another decision is another plan. A
// refusal names its reason.
func TestPlans(t *testing.T) {
	t.Parallel()
	disarm := func(ctx context.Context, j *Job) (operate.Plan, error) {
		d := &Disarming{Members: j.Members, Cluster: "main", Clock: clock.RealClock{}, Comparing: func() {}}
		return d.Judge(ctx)
	}
	transfer := func(to string) func(context.Context, *Job) (operate.Plan, error) {
		return func(ctx context.Context, j *Job) (operate.Plan, error) {
			tr := &Transfer{Members: j.Members, Cluster: "main", To: to}
			return tr.Judge(ctx)
		}
	}
	defrag := func(ctx context.Context, j *Job) (operate.Plan, error) {
		d := &Defragmentation{Job: j, Cluster: "main"}
		return d.Judge(ctx)
	}
	noSpace := func(id uint64) func(*etcdtest.Cluster) {
		return func(c *etcdtest.Cluster) {
			c.Alarms = append(c.Alarms, &pb.AlarmMember{MemberID: id, Alarm: pb.AlarmType_NOSPACE})
		}
	}
	for _, row := range []struct {
		name string
		set  func(*etcdtest.Cluster)
		plan func(context.Context, *Job) (operate.Plan, error)
		// want is the title, with the subject if there is one, or what is already so, or the
		// refusal.
		want string
	}{
		{"no alarm", nil, disarm, "No alarm is raised in main."},
		{"one alarm", noSpace(2), disarm, "disarm the alarms of main: NOSPACE of 0000000000000002 "},
		{"an alarm of another member", noSpace(3), disarm, "disarm the alarms of main: NOSPACE of 0000000000000003 "},
		{"a cause that still exists", func(c *etcdtest.Cluster) { noSpace(2)(c); c.Size, c.InUse = 2<<30, 2<<30 }, disarm, "alarm NOSPACE of main-1 stays: "},
		{"the most advanced follower", nil, transfer(""), "move the leadership of main from main-0 to main-1"},
		{"a chosen member", nil, transfer("main-2"), "move the leadership of main from main-0 to main-2"},
		{"the leader itself", nil, transfer("main-0"), "main-0 is already the leader of main."},
		{"a learner", func(c *etcdtest.Cluster) { c.Members[2].IsLearner = true }, transfer("main-2"), "main-2 can't become the leader of main: "},
		{"all members", nil, defrag, "defragment main: main-1 main-2 main-0"},
		{"with another leader", func(c *etcdtest.Cluster) { c.Leader = 2 }, defrag, "defragment main: main-0 main-2 main-1"},
		{"without space", noSpace(2), defrag, "defragment main and disarm NOSPACE: main-1 main-2 main-0"},
		{"a member is down", func(c *etcdtest.Cluster) { c.Stop("main-1") }, defrag, "main can't be defragmented now: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, cluster := newJob(t)
			if row.set != nil {
				row.set(cluster)
			}
			plan, err := row.plan(t.Context(), j)
			got := plan.Already + plan.Title
			if plan.Subject != "" {
				got += ": " + plan.Subject
			}
			if err != nil {
				if _, refused := errors.AsType[*operate.RefusedError](err); !refused {
					t.Fatal(err)
				}
				if got = err.Error(); !strings.HasPrefix(got, row.want) {
					t.Errorf("refused: %q, want %q", got, row.want)
				}
				return
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestMeaning: the command that is named repairs the cause of the alarm.
func TestMeaning(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		alarms []etcd.Alarm
		want   string
	}{
		{[]etcd.Alarm{{Type: "NOSPACE"}}, "kubectl etcd defrag main -n team "},
		{[]etcd.Alarm{{Type: "CORRUPT", Gone: true}}, "kubectl etcd alarm disarm main -n team "},
		{[]etcd.Alarm{{Type: "NOSPACE"}, {Type: "CORRUPT"}}, "kubectl etcd check main -n team,"},
	} {
		if got := Meaning("main", "team", row.alarms); !strings.Contains(got, row.want) {
			t.Errorf("%v: %q lacks %q", row.alarms, got, row.want)
		}
	}
}
