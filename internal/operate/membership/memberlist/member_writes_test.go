// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

var errLockLost = errors.New("the lock is lost")

// remove returns the removal of a member by its ID as it was listed at first.
func remove(id uint64) func(context.Context, *fixture, func() error) error {
	return func(ctx context.Context, f *fixture, held func() error) error {
		r := Removal{Reader: f.reader, Owner: f.owner, Members: f.members, Clock: &operatetest.HastyClock{}}
		return r.Remove(ctx, listed(f, id), held)
	}
}

// listed returns a member as it was observed.
func listed(f *fixture, id uint64) etcd.Listed {
	at := slices.IndexFunc(f.survey.List, func(l etcd.Listed) bool { return l.ID == id })
	return f.survey.List[at]
}

func add(ctx context.Context, f *fixture, held func() error) error {
	id, err := AddLearner(ctx, f.members, f.owner, []string{newURL}, held)
	if err == nil && id != 101 {
		return fmt.Errorf("the learner has ID %d", id)
	}
	return err
}

func promote(ctx context.Context, f *fixture, held func() error) error {
	return PromoteMember(ctx, f.members, f.owner, listed(f, 9), held)
}

// learner adds a learner that another client has added.
func learner(c *operatetest.Cluster) {
	c.Etcd.Members = append(c.Etcd.Members, &pb.Member{ID: 9, Name: "main-3", PeerURLs: []string{newURL}, IsLearner: true})
}

// ask surveys the members.
func (f *fixture) ask(t *testing.T) {
	t.Helper()
	var err error
	if f.survey, err = f.members.Survey(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestMemberWrites: each change of the member list makes these calls. It makes none where the rules or
// etcd refuse, where the list has changed since the plan was made, or where the lock is lost.
func TestMemberWrites(t *testing.T) {
	t.Parallel()
	stop := func(pods ...string) func(*fixture) {
		return func(f *fixture) { f.stop(t, pods) }
	}
	for _, row := range []struct {
		name string
		do   func(context.Context, *fixture, func() error) error
		// before happens before the plan, and after between the plan and the change.
		before  func(*operatetest.Cluster)
		after   func(*fixture)
		want    []string
		err     string
		refused bool
	}{
		{name: "M-1 remove a follower", do: remove(3), want: []string{"remove 3"}},
		{name: "M-2 remove the leader", do: remove(1), want: []string{"move leader to 2", "remove 1"}},
		{
			name: "M-3 remove one of two that would be left", do: remove(2), after: stop("main-2"), refused: true,
			err: "quorum",
		},
		{
			name: "M-4 the member has another peer URL by now", do: remove(3), err: "its entry in etcd's list has changed: it was",
			after: func(f *fixture) {
				f.Etcd.Members[2] = &pb.Member{ID: 3, Name: "main-2", PeerURLs: []string{newURL}}
			},
		},
		{name: "M-5 remove without a leader", do: remove(3), after: func(f *fixture) { f.Etcd.Leader = 0 }, refused: true, err: "cannot remove main-2"},
		{name: "A-1 add a learner", do: add, want: []string{"add [" + newURL + "]"}},
		{name: "A-2 a learner is there already", do: add, before: learner, refused: true, err: "cannot add a member"},
		{name: "A-3 a voter is down", do: add, after: stop("main-2"), refused: true, err: "cannot add a member"},
		{name: "P-1 promote a learner", do: promote, before: learner, want: []string{"promote 9"}},
		{name: "P-4 the leader has no connection to it", do: promote, before: learner, after: func(f *fixture) { f.Etcd.Reached = []string{"main-0", "main-1", "main-2"} }, err: "has no connection to the learner"},
		{name: "P-2 promote without a leader", do: promote, before: learner, after: func(f *fixture) { f.Etcd.Leader = 0 }, err: "no member leads now"},
		{name: "P-3 no member answers", do: promote, before: learner, after: stop("main-0", "main-1", "main-2"), refused: true, err: "cannot promote main-3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			run := func(prepare func(*fixture), held func() error) (*fixture, error) {
				f := newFixture(t, row.before)
				f.connect(t)
				f.ask(t)
				if row.after != nil {
					row.after(f)
				}
				if prepare != nil {
					prepare(f)
				}
				return f, row.do(t.Context(), f, held)
			}
			f, err := run(nil, func() error { return nil })
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) || !slices.Equal(f.Etcd.Writes(), row.want) {
				t.Errorf("calls are %q, want %q; the error is %v, want %q", f.Etcd.Writes(), row.want, err, row.err)
			}
			if _, refused := errors.AsType[*operate.RefusedError](err); refused != row.refused {
				t.Errorf("refused is %t: %v", refused, err)
			}
			if row.err != "" {
				return
			}
			f, err = run(nil, func() error { return errLockLost })
			if !errors.Is(err, errLockLost) || len(f.Etcd.Writes()) > 0 {
				t.Errorf("with the lock lost the calls are %q: %v", f.Etcd.Writes(), err)
			}
			f, err = run(func(f *fixture) {
				f.Etcd.Fail = func(call string) error {
					if call == row.want[len(row.want)-1] {
						return status.Error(codes.PermissionDenied, "etcdserver: permission denied")
					}
					return nil
				}
			}, func() error { return nil })
			if !etcd.Denied(err) || !slices.Equal(f.Etcd.Writes(), row.want[:len(row.want)-1]) {
				t.Errorf("denied: the calls are %q: %v", f.Etcd.Writes(), err)
			}
		})
	}
}

// TestLeader: each change is a request to the leader of the survey.
func TestLeader(t *testing.T) {
	t.Parallel()
	f := newFixture(t, learner)
	f.connect(t)
	f.ask(t)
	l, err := LeaderOf(t.Context(), f.members, f.survey)
	if err != nil || l.Pod != "main-0" {
		t.Fatal(l.Pod, err)
	}
	if err := l.Promote(t.Context(), 9); err != nil {
		t.Error(err)
	}
	if err := l.Remove(t.Context(), 9); err != nil {
		t.Error(err)
	}
	if id, err := l.Add(t.Context(), []string{newURL}); err != nil || id != 101 {
		t.Error(id, err)
	}
	if want := []string{"promote 9", "remove 9", "add [" + newURL + "]"}; !slices.Equal(f.Etcd.Writes(), want) {
		t.Errorf("calls are %q, want %q", f.Etcd.Writes(), want)
	}
	f.Etcd.Fail = func(string) error { return status.Error(codes.PermissionDenied, "etcdserver: permission denied") }
	_, added := l.Add(t.Context(), []string{newURL})
	for what, err := range map[string]error{"add": added, "promote": l.Promote(t.Context(), 9), "remove": l.Remove(t.Context(), 2)} {
		if !etcd.Denied(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
