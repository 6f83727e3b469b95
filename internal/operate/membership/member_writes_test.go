// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

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
)

var errLockLost = errors.New("the lock is lost")

// newURL is the peer URL of a fourth member.
const newURL = "http://main-3.main-peer.team.svc:2380"

// remove returns the removal of a member by its ID as it was listed at first.
func remove(id uint64) func(context.Context, *writing, func() error) error {
	return func(ctx context.Context, w *writing, held func() error) error {
		r := Removal{Reader: w.m.Reader, Owner: w.m.Owner, Members: w.m.cluster, Clock: w.m.Clock}
		return r.Remove(ctx, listed(w, id), held)
	}
}

// listed returns a member as it was observed.
func listed(w *writing, id uint64) etcd.Listed {
	at := slices.IndexFunc(w.s.survey.List, func(l etcd.Listed) bool { return l.ID == id })
	return w.s.survey.List[at]
}

func add(ctx context.Context, w *writing, held func() error) error {
	id, err := AddLearner(ctx, w.m.cluster, w.m.Owner, []string{newURL}, held)
	if err == nil && id != 101 {
		return fmt.Errorf("the learner has ID %d", id)
	}
	return err
}

func promote(ctx context.Context, w *writing, held func() error) error {
	return PromoteMember(ctx, w.m.cluster, w.m.Owner, listed(w, 9), held)
}

// learner adds a learner that another client has added.
func learner(w *writing) {
	w.Etcd.Members = append(w.Etcd.Members, &pb.Member{ID: 9, Name: "main-3", PeerURLs: []string{newURL}, IsLearner: true})
}

// stop stops members, and connects to the others.
func (w *writing) stop(t *testing.T, pods []string) {
	t.Helper()
	for _, pod := range pods {
		w.Etcd.Stop(pod)
	}
	_ = w.m.Close()
	w.m.cluster = nil
	if err := w.m.connect(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestMemberWrites: each change of the member list makes these calls. It makes none where the rules or
// etcd refuse, where the list has changed since the plan was made, or where the lock is lost.
func TestMemberWrites(t *testing.T) {
	t.Parallel()
	stop := func(pods ...string) func(*writing) {
		return func(w *writing) { w.stop(t, pods) }
	}
	for _, row := range []struct {
		name string
		do   func(context.Context, *writing, func() error) error
		// before happens before the plan, and after between the plan and the change.
		before, after func(*writing)
		want          []string
		err           string
		refused       bool
	}{
		{name: "M-1 remove a follower", do: remove(3), want: []string{"remove 3"}},
		{name: "M-2 remove the leader", do: remove(1), want: []string{"move leader to 2", "remove 1"}},
		{
			name: "M-3 remove one of two that would be left", do: remove(2), after: stop("main-2"), refused: true,
			err: "quorum",
		},
		{
			name: "M-4 the member has another peer URL by now", do: remove(3), err: "it is not in etcd's list any more as it was",
			after: func(w *writing) { w.Etcd.Members[2] = &pb.Member{ID: 3, Name: "main-2", PeerURLs: []string{newURL}} },
		},
		{name: "M-5 remove without a leader", do: remove(3), after: func(w *writing) { w.Etcd.Leader = 0 }, refused: true, err: "cannot remove main-2"},
		{name: "A-1 add a learner", do: add, want: []string{"add [" + newURL + "]"}},
		{name: "A-2 a learner is there already", do: add, before: learner, refused: true, err: "cannot add a member"},
		{name: "A-3 a voter is down", do: add, after: stop("main-2"), refused: true, err: "cannot add a member"},
		{name: "P-1 promote a learner", do: promote, before: learner, want: []string{"promote 9"}},
		{name: "P-2 promote without a leader", do: promote, before: learner, after: func(w *writing) { w.Etcd.Leader = 0 }, err: "no member leads now"},
		{name: "P-3 no member answers", do: promote, before: learner, after: stop("main-0", "main-1", "main-2"), refused: true, err: "cannot promote main-3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			run := func(prepare func(*writing), held func() error) (*writing, error) {
				w := newWriting(t, row.before)
				if row.after != nil {
					row.after(w)
				}
				if prepare != nil {
					prepare(w)
				}
				return w, row.do(t.Context(), w, held)
			}
			w, err := run(nil, func() error { return nil })
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) || !slices.Equal(w.Etcd.Writes(), row.want) {
				t.Errorf("calls are %q, want %q; the error is %v, want %q", w.Etcd.Writes(), row.want, err, row.err)
			}
			if _, refused := errors.AsType[*operate.RefusedError](err); refused != row.refused {
				t.Errorf("refused is %t: %v", refused, err)
			}
			if row.err != "" {
				return
			}
			w, err = run(nil, func() error { return errLockLost })
			if !errors.Is(err, errLockLost) || len(w.Etcd.Writes()) > 0 {
				t.Errorf("with the lock lost the calls are %q: %v", w.Etcd.Writes(), err)
			}
			w, err = run(func(w *writing) {
				w.Etcd.Fail = func(call string) error {
					if call == row.want[len(row.want)-1] {
						return status.Error(codes.PermissionDenied, "etcdserver: permission denied")
					}
					return nil
				}
			}, func() error { return nil })
			if !etcd.Denied(err) || !slices.Equal(w.Etcd.Writes(), row.want[:len(row.want)-1]) {
				t.Errorf("denied: the calls are %q: %v", w.Etcd.Writes(), err)
			}
		})
	}
}
