// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Cluster connects to the members of one etcd cluster, each through a separate tunnel. It
// opens a connection when it is needed and keeps it until Close. It is safe for concurrent
// use.
type Cluster struct {
	Tunnel    *tunnel.Dialer
	Endpoints []access.Endpoint
	// Beyond finds the members that other pods run. Nil finds none.
	Beyond Beyond

	mu      sync.Mutex
	members map[string]*member         // by pod
	others  map[string]access.Endpoint // of Beyond, by pod
}

// Member is the status of one member, or the reason why it is unknown.
type Member struct {
	Pod string
	// Err is why nothing below is known, nil if the member answered.
	Err error

	ID, ClusterID uint64
	Name          string
	Learner       bool
	Leader        bool
	// LeaderID is the leader that this member follows, 0 for none.
	LeaderID uint64
	Version  string
	// DBSize, DBSizeInUse and Quota are in bytes. Quota is 0 if it is unknown.
	DBSize, DBSizeInUse, Quota int64
	RaftTerm                   uint64
	RaftIndex, RaftApplied     uint64
	Revision                   int64
	// Alarms are the types of the alarms that any member reports for this one: NOSPACE,
	// CORRUPT. They come from Status, since the call for alarms writes to etcd.
	Alarms []string
	// Errors are other errors that the member reports.
	Errors []string
	// raised has the types of the alarms that it reports, by member ID.
	raised map[uint64][]string
	// CertificateExpiry is the end of the serving certificate's validity, zero without TLS.
	CertificateExpiry time.Time
}

// Role returns leader, learner or follower.
func (m Member) Role() string {
	switch {
	case m.Leader:
		return "leader"
	case m.Learner:
		return "learner"
	}
	return "follower"
}

// CaughtUpTo reports whether the member has applied the entries up to an index, except at most
// [policy.LagLimit] of them.
func (m Member) CaughtUpTo(index uint64) bool { return m.RaftApplied+policy.LagLimit >= index }

// Survey is the status of all members at one time.
type Survey struct {
	// Members has one entry per endpoint, in the same order.
	Members []Member
	// List is the member list from a member with quorum (a linearizable read). ListErr is
	// why there is none.
	List    []Listed
	ListErr error
	// Others are the members of the list that answer in pods that Kubernetes doesn't show as the cluster's. Their
	// entries of the list have no Pod.
	Others []Member
	// Apart has the pods of members with one cluster ID by the leader that they follow, where they are several
	// clusters that share the ID. It is nil where they are not known to be.
	Apart map[uint64][]string
	// Singles means that the members, two or more, are etcds of their own: each leads, and lists itself alone.
	Singles bool
	// Strays are the alarms of members that aren't among the healthy ones: a pod doesn't
	// answer, has lost its data, or is gone.
	Strays []Alarm
}

// Leader returns the member that reports itself as the leader. During an election there may
// be none, and after a partition two for a moment: then Leader returns that of the higher
// term.
func (s Survey) Leader() (Member, bool) {
	var leader Member
	for _, m := range s.Answers() {
		if m.Leader && (!leader.Leader || m.RaftTerm > leader.RaftTerm) {
			leader = m
		}
	}
	return leader, leader.Leader
}

// Followed returns the ID of the member that most members follow, 0 for none. Of two that as
// many follow it is the one that calls itself leader.
func (s Survey) Followed() uint64 {
	votes := map[uint64]int{}
	for _, m := range s.Answers() {
		if m.LeaderID != 0 {
			votes[m.LeaderID] += 2
			if m.Leader {
				votes[m.LeaderID]++
			}
		}
	}
	var best uint64
	for id, n := range votes {
		if n > votes[best] || n == votes[best] && id < best {
			best = id
		}
	}
	return best
}

// Healthy reports whether a member answers and follows the leader that most members follow. One that follows another
// leader is on the smaller side of a partition.
func (s Survey) Healthy(m Member) bool {
	return m.Err == nil && m.LeaderID != 0 && m.LeaderID == s.Followed()
}

// NonMemberPods returns the pods whose etcd is not a member: they don't answer as members, and
// every entry of the list has another pod. It returns none if the list is unknown or has an
// entry without a pod, which may be theirs.
func (s Survey) NonMemberPods() []string {
	unclear := func(l Listed) bool {
		_, known := s.Other(l.ID)
		return l.Pod == "" && !known
	}
	if s.ListErr != nil || len(s.List) == 0 || slices.ContainsFunc(s.List, unclear) {
		return nil
	}
	var pods []string
	for _, m := range s.Members {
		if m.Err != nil && !slices.ContainsFunc(s.List, func(l Listed) bool { return l.Pod == m.Pod }) {
			pods = append(pods, m.Pod)
		}
	}
	return pods
}

// Survey reads the status of all members in parallel. A member that doesn't answer, or isn't
// the one that the member list has for its pod, has its Err set. Survey fails if the context
// ends, with a *SplitBrainError, and if the API server refuses the access to every pod. The
// result has the members in these cases too.
func (c *Cluster) Survey(ctx context.Context) (Survey, error) {
	s := Survey{Members: make([]Member, len(c.Endpoints))}
	var wait sync.WaitGroup
	for i, e := range c.Endpoints {
		wait.Go(func() { s.Members[i] = c.Status(ctx, e.Pod) })
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return s, err
	}
	shareAlarms(s.Members)
	if err := refusedEverywhere(s.Members); err != nil {
		s.ListErr = err
		return s, err
	}
	s.Singles = c.singles(ctx, s.Members)
	if s.Apart, s.ListErr = c.splitBrain(ctx, s.Members); s.ListErr != nil {
		return s, s.ListErr
	}
	if s.List, s.ListErr = c.list(ctx, s.Members); s.ListErr == nil {
		assign(s.List, c.Endpoints, s.Members)
		identify(s.Members, s.List)
		s.Others = c.askOthers(ctx, s)
	}
	s.Strays = unmappedAlarms(s.Members, s.List)
	return s, context.Cause(ctx)
}

// refusedEverywhere returns the API server's refusal if it refused the access to every pod.
func refusedEverywhere(members []Member) error {
	for _, m := range members {
		if !apierrors.IsForbidden(m.Err) && !apierrors.IsUnauthorized(m.Err) {
			return nil
		}
	}
	if len(members) == 0 {
		return nil
	}
	return errors.Unwrap(members[0].Err)
}
