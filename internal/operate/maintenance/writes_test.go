// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// newJob returns a job on three members in memory.
func newJob(t *testing.T) (*Job, *etcdtest.Cluster) {
	t.Helper()
	pods := []string{"main-0", "main-1", "main-2"}
	cluster, server := etcdtest.New(t, pods...), apitest.New(t)
	server.Dial = cluster.Dial
	members := &etcd.Cluster{Tunnel: tunnel.New(server.Config())}
	t.Cleanup(func() { _ = members.Close() })
	facts := policy.Cluster{}
	for _, pod := range pods {
		members.Endpoints = append(members.Endpoints, access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort, MetricsPort: etcdtest.MetricsPort})
		facts.Members = append(facts.Members, policy.Member{Pod: pod, Exists: true, PodReady: true, Ready: true})
	}
	facts.Size = len(pods)
	silent := func(string, ...any) {}
	return &Job{
		Members: members, Clock: &operatetest.HastyClock{}, Facts: func(context.Context) (policy.Cluster, error) { return facts, nil },
		StillHeld: func() error { return nil }, Logf: silent, Progressf: silent,
	}, cluster
}

func readState(t *testing.T, j *Job) State {
	t.Helper()
	s, err := j.readState(t.Context())
	if err != nil {
		t.Error(err)
	}
	return s
}

var errLost = errors.New("the lock is lost")

// TestWrites: each operation makes these calls and no other, stops at a lost lock before the
// next call, and returns the error of a call that fails.
func TestWrites(t *testing.T) {
	t.Parallel()
	noSpace := []*pb.AlarmMember{{MemberID: 2, Alarm: pb.AlarmType_NOSPACE}, {MemberID: 3, Alarm: pb.AlarmType_CORRUPT}}
	survey := func(j *Job) State { return readState(t, j) }
	for _, row := range []struct {
		name string
		set  func(*etcdtest.Cluster)
		do   func(context.Context, *Job) error
		// locked is false where the caller asks for the lock.
		locked bool
		want   []string
	}{
		{
			name: "defragment, the leader last and after a transfer", locked: true,
			do:   func(ctx context.Context, j *Job) error { return j.Defragment(ctx) },
			want: []string{"defragment main-1", "defragment main-2", "move leader to 2", "defragment main-0"},
		},
		{
			name: "compact", locked: true,
			do:   func(ctx context.Context, j *Job) error { return j.Compact(ctx, survey(j)) },
			want: []string{"compact 1000"},
		},
		{
			name: "disarm NOSPACE and no other alarm", locked: true,
			set: func(c *etcdtest.Cluster) { c.Alarms = noSpace },
			do: func(ctx context.Context, j *Job) error {
				verdict, err := j.disarmNoSpace(ctx)
				if err == nil && !verdict.Allowed {
					err = errors.New(verdict.Message)
				}
				return err
			},
			want: []string{"disarm NOSPACE of 2"},
		},
		{
			name: "relieve of NOSPACE and no other alarm", locked: true,
			set: func(c *etcdtest.Cluster) { c.Alarms = noSpace },
			do: func(ctx context.Context, j *Job) error {
				_, _, err := j.Relieve(ctx, survey(j).Survey)
				return err
			},
			want: []string{"disarm NOSPACE of 2"},
		},
		{
			name: "disarm one alarm",
			set:  func(c *etcdtest.Cluster) { c.Alarms = noSpace },
			do: func(ctx context.Context, j *Job) error {
				return Disarm(ctx, j.Members, survey(j).Survey, etcd.Alarm{MemberID: 3, Type: "CORRUPT"})
			},
			want: []string{"disarm CORRUPT of 3"},
		},
		{
			name: "move the leader",
			do: func(ctx context.Context, j *Job) error {
				return MoveLeader(ctx, j.Members, survey(j).Survey, "main-2", j.Clock)
			},
			want: []string{"move leader to 3"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			run := func(prepare func(*Job, *etcdtest.Cluster)) (*etcdtest.Cluster, error) {
				j, cluster := newJob(t)
				if row.set != nil {
					row.set(cluster)
				}
				prepare(j, cluster)
				return cluster, row.do(t.Context(), j)
			}
			cluster, err := run(func(*Job, *etcdtest.Cluster) {})
			if err != nil || !slices.Equal(cluster.Writes(), row.want) {
				t.Errorf("calls are %q, want %q: %v", cluster.Writes(), row.want, err)
			}
			last := row.want[len(row.want)-1]
			cluster, err = run(func(_ *Job, c *etcdtest.Cluster) {
				c.Fail = func(call string) error {
					if call == last {
						return errors.New("disk failure")
					}
					return nil
				}
			})
			if err == nil || !strings.Contains(err.Error(), "disk failure") || !slices.Equal(cluster.Writes(), row.want[:len(row.want)-1]) {
				t.Errorf("with %q failing the calls are %q: %v", last, cluster.Writes(), err)
			}
			if !row.locked {
				return
			}
			cluster, err = run(func(j *Job, c *etcdtest.Cluster) {
				j.StillHeld = func() error {
					if len(c.Writes()) == len(row.want)-1 {
						return errLost
					}
					return nil
				}
			})
			if !errors.Is(err, errLost) || !slices.Equal(cluster.Writes(), row.want[:len(row.want)-1]) {
				t.Errorf("with the lock lost before %q the calls are %q: %v", last, cluster.Writes(), err)
			}
		})
	}
}

// TestCompactCompacted: a history that was compacted meanwhile is what was wanted.
func TestCompactCompacted(t *testing.T) {
	t.Parallel()
	j, cluster := newJob(t)
	state, err := j.readState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cluster.Fail = func(string) error { return rpctypes.ErrGRPCCompacted }
	if err := j.Compact(t.Context(), state); err != nil {
		t.Error(err)
	}
}

// TestMoveLeaderElected: where the leader changed since the survey, the one that leads now is
// asked, and a transfer that an election made already is none.
func TestMoveLeaderElected(t *testing.T) {
	t.Parallel()
	j, cluster := newJob(t)
	s, err := j.Members.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cluster.Leader = 3
	if err := MoveLeader(t.Context(), j.Members, s, "main-2", j.Clock); err != nil || len(cluster.Writes()) > 0 {
		t.Errorf("calls are %q: %v", cluster.Writes(), err)
	}
}

// TestDisarmRaisedAgain: an alarm that is raised again is an error, not a success.
func TestDisarmRaisedAgain(t *testing.T) {
	t.Parallel()
	j, cluster := newJob(t)
	cluster.Alarms, cluster.KeepAlarms = []*pb.AlarmMember{{MemberID: 2, Alarm: pb.AlarmType_NOSPACE}}, true
	_, err := j.disarmNoSpace(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is raised again") {
		t.Errorf("got %v", err)
	}
	cluster.Size = 4 << 30
	if verdict, err := j.disarmNoSpace(t.Context()); err != nil || verdict.Allowed {
		t.Errorf("a full database: %+v, %v", verdict, err)
	}
}

// TestDatabases: what the rules see of a member that is silent, and of one without a pod.
func TestDatabases(t *testing.T) {
	t.Parallel()
	j, cluster := newJob(t)
	cluster.Members = append(cluster.Members, &pb.Member{ID: 9, Name: "far", PeerURLs: []string{"http://far:2380"}, IsLearner: true})
	j.Members.Endpoints[2].Err = errors.New("no certificate")
	state, err := j.readState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	well := maintenance.Database{Pod: "main-1", Applied: 1000, Size: 200 << 20, InUse: 20 << 20, Quota: 2 << 30}
	if got := state.Databases[1]; got.Trouble != "" || got.Size != well.Size || got.InUse != well.InUse || got.Quota != well.Quota || got.Leader {
		t.Errorf("a member that is well: %+v", got)
	}
	if got := state.Databases[0]; !got.Leader {
		t.Errorf("the leader: %+v", got)
	}
	if got := state.Databases[2]; !strings.Contains(got.Trouble, "no certificate") {
		t.Errorf("a member that is silent: %+v", got)
	}
	if got := state.Databases[3]; got.Pod != "far" || !got.Learner || got.Trouble == "" {
		t.Errorf("a member without a pod: %+v", got)
	}
}

// TestMoveLeaderOnce: one request goes to the leader of the survey. Nothing is sent without a leader, or
// for a member that doesn't answer. A leader that was elected meanwhile is awaited.
func TestMoveLeaderOnce(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		to   string
		// before happens before the survey, after between the survey and the request.
		before, after func(*Job, *etcdtest.Cluster)
		want          []string
		err           string
	}{
		{name: "to a follower", to: "main-1", want: []string{"move leader to 2"}},
		{name: "to no member", to: "main-7", err: "move the leadership to main-7: there is no leader, or no such member"},
		{name: "without a leader", to: "main-1", before: func(_ *Job, c *etcdtest.Cluster) { c.Leader = 0 }, err: "there is no leader, or no such member"},
		{name: "to a silent member", to: "main-2", before: func(j *Job, _ *etcdtest.Cluster) { j.Members.Endpoints[2].Err = errors.New("no certificate") }, err: "no such member"},
		{name: "denied", to: "main-1", after: fails(rpctypes.ErrGRPCPermissionDenied), err: "move the leadership from main-0 to main-1: "},
		{name: "the member was elected meanwhile", to: "main-1", after: func(_ *Job, c *etcdtest.Cluster) { c.Leader = 2 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, cluster := newJob(t)
			if row.before != nil {
				row.before(j, cluster)
			}
			s, err := j.Members.Survey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if row.after != nil {
				row.after(j, cluster)
			}
			err = moveLeader(t.Context(), j.Members, s, row.to, j.Clock)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) || !slices.Equal(cluster.Writes(), row.want) {
				t.Errorf("calls are %q, want %q; the error is %v, want %q", cluster.Writes(), row.want, err, row.err)
			}
		})
	}
}

// fails has each call that changes something fail.
func fails(err error) func(*Job, *etcdtest.Cluster) {
	return func(_ *Job, c *etcdtest.Cluster) { c.Fail = func(string) error { return err } }
}

// TestDefragmentMember: one member is asked once, and is awaited. None is without the lock.
func TestDefragmentMember(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		pod    string
		before func(*Job, *etcdtest.Cluster)
		want   []string
		err    string
	}{
		{name: "a member", pod: "main-1", want: []string{"defragment main-1"}},
		{name: "the lock is lost", pod: "main-1", before: func(j *Job, _ *etcdtest.Cluster) { j.StillHeld = func() error { return errLost } }, err: errLost.Error()},
		{name: "denied", pod: "main-1", before: fails(rpctypes.ErrGRPCPermissionDenied), err: "defragment main-1: "},
		{name: "no member of that name", pod: "main-7", err: "main-7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, cluster := newJob(t)
			state := readState(t, j)
			if row.before != nil {
				row.before(j, cluster)
			}
			err := j.defragment(t.Context(), state, row.pod)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) || !slices.Equal(cluster.Writes(), row.want) {
				t.Errorf("calls are %q, want %q; the error is %v, want %q", cluster.Writes(), row.want, err, row.err)
			}
		})
	}
}

// TestRelieve: NOSPACE is disarmed where there is room, and what stays in force is returned.
func TestRelieve(t *testing.T) {
	t.Parallel()
	alarm := func(member uint64, kind pb.AlarmType) *pb.AlarmMember {
		return &pb.AlarmMember{MemberID: member, Alarm: kind}
	}
	for _, row := range []struct {
		name       string
		alarms     []*pb.AlarmMember
		size       int64 // of each database, 0 for little
		keep       bool
		stay, room string
		writes     []string
	}{
		{name: "none"},
		{name: "room", alarms: []*pb.AlarmMember{alarm(2, pb.AlarmType_NOSPACE)}, room: "SpaceFree", writes: []string{"disarm NOSPACE of 2"}},
		{name: "of members that are gone", alarms: []*pb.AlarmMember{alarm(77, pb.AlarmType_NOSPACE), alarm(78, pb.AlarmType_NOSPACE)}, room: "SpaceFree", writes: []string{"disarm NOSPACE of 77", "disarm NOSPACE of 78"}},
		{name: "full", alarms: []*pb.AlarmMember{alarm(77, pb.AlarmType_NOSPACE)}, size: 8 << 30, stay: "NOSPACE", room: "DatabaseFull"},
		{name: "corrupt", alarms: []*pb.AlarmMember{alarm(77, pb.AlarmType_CORRUPT)}, stay: "CORRUPT"},
		{name: "both", alarms: []*pb.AlarmMember{alarm(77, pb.AlarmType_CORRUPT), alarm(77, pb.AlarmType_NOSPACE)}, stay: "CORRUPT", room: "SpaceFree", writes: []string{"disarm NOSPACE of 77"}},
		{name: "raised again", alarms: []*pb.AlarmMember{alarm(2, pb.AlarmType_NOSPACE)}, keep: true, stay: "NOSPACE", room: "SpaceFree", writes: []string{"disarm NOSPACE of 2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, cluster := newJob(t)
			cluster.Alarms, cluster.KeepAlarms = row.alarms, row.keep
			if row.size > 0 {
				cluster.Size = row.size
			}
			stay, room, err := j.Relieve(t.Context(), readState(t, j).Survey)
			var types []string
			for _, a := range stay {
				types = append(types, a.Type)
			}
			if err != nil || strings.Join(types, " ") != row.stay || room.Reason.Name() != row.room || !slices.Equal(cluster.Writes(), row.writes) {
				t.Errorf("%q stay, %q, calls %q: %v", types, room.Reason.Name(), cluster.Writes(), err)
			}
		})
	}
}

// TestDatabasesElsewhere: a member that another workload runs is no member without a pod.
func TestDatabasesElsewhere(t *testing.T) {
	t.Parallel()
	survey := etcd.Survey{List: []etcd.Listed{{ID: 2, Name: "x"}, {ID: 3, Name: "y"}}, Others: []etcd.Member{{ID: 2, Pod: "x-0"}}}
	got := Databases(survey)
	if len(got) != 2 || !strings.Contains(got[0].Trouble, "pod x-0 of another workload") || !strings.Contains(got[1].Trouble, "no pod of the cluster is known") {
		t.Errorf("%+v", got)
	}
}
