// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/version"
)

// Listed is an entry of the cluster's member list.
type Listed struct {
	ID         uint64
	Name       string
	PeerURLs   []string
	ClientURLs []string
	Learner    bool
	// Pod is the pod in which this member runs, empty if no pod matches.
	Pod string
}

// NameAndID returns the member's pod, or else its name, and its ID, as messages show it.
func (l Listed) NameAndID() string {
	return fmt.Sprintf("%s %016x", cmp.Or(l.Pod, l.Name, "(never started)"), l.ID)
}

// list returns the member list of the first voter that answers with quorum. It calls all of
// them, since some may be partitioned and not have noticed yet.
func (c *Cluster) list(ctx context.Context, members []Member) ([]Listed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		list []Listed
		err  error
	}
	answers := make(chan answer, len(members))
	calls := 0
	for _, m := range members {
		if m.Err != nil || m.Learner {
			continue
		}
		calls++
		go func() {
			err := c.confirmQuorum(ctx, m)
			var list []Listed
			if err == nil {
				list, err = c.listOf(ctx, m.Pod)
			}
			answers <- answer{list, err}
		}()
	}
	if calls == 0 {
		return nil, noVoter(members)
	}
	var errs []error
	for range calls {
		a := <-answers
		if a.err == nil {
			return a.list, nil
		}
		errs = append(errs, a.err)
	}
	return nil, fmt.Errorf("no quorum: %w", errors.Join(errs...))
}

// confirmQuorum makes a member before etcd 3.5 prove that it has quorum, since it always
// serves the member list from its own memory, which may be outdated. If it denies the read to
// this user, it has quorum too: it checks the permission later.
func (c *Cluster) confirmQuorum(ctx context.Context, m Member) error {
	if v, err := version.ParseGeneric(m.Version); err != nil || v.AtLeast(version.MajorMinor(3, 5)) {
		return nil //nolint:nilerr // a member without a version is not that old
	}
	voter, err := c.member(ctx, m.Pod)
	if err != nil {
		return err
	}
	if _, err := voter.client.Get(ctx, "kubectl-etcd", clientv3.WithCountOnly()); err != nil && !Denied(err) {
		return Explain(voter.link.endpoint, err)
	}
	return nil
}

// noVoter returns why no voter can be called.
func noVoter(members []Member) error {
	for _, m := range members {
		if m.Err != nil {
			return fmt.Errorf("no voter answers: %w", m.Err)
		}
	}
	return errors.New("no voter answers")
}

func (c *Cluster) listOf(ctx context.Context, pod string, options ...clientv3.OpOption) ([]Listed, error) {
	m, err := c.member(ctx, pod)
	if err != nil {
		return nil, err
	}
	response, err := m.client.MemberList(ctx, options...)
	if err != nil {
		return nil, Explain(m.link.endpoint, err)
	}
	list := make([]Listed, 0, len(response.Members))
	for _, l := range response.Members {
		list = append(list, listed(l))
	}
	return list, nil
}

// OwnList returns the member list that one member has. It needs no quorum, and that of a
// partitioned member is outdated.
func (c *Cluster) OwnList(ctx context.Context, pod string) ([]Listed, error) {
	list, err := c.listOf(ctx, pod, clientv3.WithSerializable())
	assign(list, c.Endpoints, nil)
	return list, err
}

func listed(m *pb.Member) Listed {
	return Listed{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.IsLearner}
}

// identify sets the names from the list. It sets the Err of members that aren't the listed
// ones of their pods, for example one with the data directory of another member, or one that
// was removed and still runs.
func identify(members []Member, list []Listed) {
	for i := range members {
		m := &members[i]
		if m.Err != nil {
			continue
		}
		self := slices.IndexFunc(list, func(l Listed) bool { return l.ID == m.ID })
		due := slices.IndexFunc(list, func(l Listed) bool { return l.Pod == m.Pod })
		switch {
		case self >= 0 && self == due:
			m.Name = list[self].Name
			continue
		case due >= 0:
			m.Err = fmt.Errorf("runs member %016x, and the member list has %016x for it", m.ID, list[due].ID)
		default:
			m.Err = fmt.Errorf("runs member %016x, which the member list doesn't have", m.ID)
		}
		m.Err = &MemberError{Pod: m.Pod, Message: m.Err.Error(), Err: errUnexpectedMember}
	}
}

var errUnexpectedMember = errors.New("another member than expected")
