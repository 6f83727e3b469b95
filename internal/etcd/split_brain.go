// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// SplitBrainError is the error if the pods of one cluster run members of several etcd clusters.
type SplitBrainError struct {
	// Pods has the pods by cluster ID, or by the ID of their leader if SameID is true.
	Pods map[uint64][]string
	// SameID is true if the clusters have one cluster ID.
	SameID bool
}

func (e *SplitBrainError) Error() string {
	of, note := "in cluster", ""
	if e.SameID {
		of, note = "led by", " with one cluster ID"
	}
	var groups []string
	for id, pods := range e.Pods {
		groups = append(groups, fmt.Sprintf("%s %s %016x", strings.Join(pods, ", "), of, id))
	}
	slices.Sort(groups)
	return fmt.Sprintf("split brain: the members belong to %d etcd clusters%s: %s", len(e.Pods), note, strings.Join(groups, "; "))
}

// splitBrain returns an error if the members belong to several clusters. apart has the pods by leader if these clusters
// have one cluster ID.
func (c *Cluster) splitBrain(ctx context.Context, members []Member) (apart map[uint64][]string, err error) {
	if err := severalIDs(members); err != nil {
		return nil, err
	}
	list := func(ctx context.Context, m Member) ([]Listed, error) {
		if err := c.confirmQuorum(ctx, m); err != nil {
			return nil, err
		}
		return c.listOf(ctx, m.Pod)
	}
	if apart = findApart(ctx, members, list); apart != nil {
		return apart, &SplitBrainError{Pods: apart, SameID: true}
	}
	return nil, nil
}

// severalIDs returns an error if the members report several cluster IDs.
func severalIDs(members []Member) error {
	pods := map[uint64][]string{}
	for _, m := range members {
		if m.Err == nil {
			pods[m.ClusterID] = append(pods[m.ClusterID], m.Pod)
		}
	}
	if len(pods) < 2 {
		return nil
	}
	return &SplitBrainError{Pods: pods}
}

// apartLimit is how long voters that follow different leaders have to show that each is in contact with a quorum.
const apartLimit = 3 * time.Second

// side is a leader, the voter that was asked for the list of its cluster, and the lists that it confirmed, nil for none.
type side struct {
	leader        uint64
	asked         Member
	first, second []Listed
}

// findApart returns the pods by leader if members with one cluster ID are several clusters, as after
// --force-new-cluster, which keeps the ID. It is nil unless that is certain: members report two leaders, one side
// confirms with a quorum a list without the leader of the other, and after that the other side confirms one with it. In
// one cluster, that leader would have been removed before the first list, and etcd never adds an ID that was removed.
func findApart(ctx context.Context, members []Member, list func(context.Context, Member) ([]Listed, error)) map[uint64][]string {
	sides := sidesOf(members)
	if len(sides) < 2 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, apartLimit)
	defer cancel()
	var wait sync.WaitGroup
	for i := range sides {
		wait.Go(func() { sides[i].first, _ = list(ctx, sides[i].asked) }) // without it, nothing is certain
	}
	wait.Wait()
	for i := range sides {
		wait.Go(func() { sides[i].second, _ = list(ctx, sides[i].asked) })
	}
	wait.Wait()
	apart := map[uint64][]string{}
	for _, a := range sides {
		for _, b := range sides {
			if a.first != nil && !has(a.first, b.leader) && has(b.second, b.leader) {
				apart[a.leader], apart[b.leader] = following(members, a.leader), following(members, b.leader)
			}
		}
	}
	if len(apart) == 0 {
		return nil
	}
	return apart
}

// following returns the pods whose members follow a leader.
func following(members []Member, leader uint64) (pods []string) {
	for _, m := range members {
		if m.Err == nil && m.LeaderID == leader {
			pods = append(pods, m.Pod)
		}
	}
	return pods
}

// sidesOf returns the leaders that members report, each with a voter that follows it, itself if it answers.
func sidesOf(members []Member) []side {
	var sides []side
	for _, m := range members {
		if m.Err != nil || m.Learner || m.LeaderID == 0 {
			continue
		}
		i := slices.IndexFunc(sides, func(s side) bool { return s.leader == m.LeaderID })
		switch {
		case i < 0:
			sides = append(sides, side{leader: m.LeaderID, asked: m})
		case m.Leader:
			sides[i].asked = m
		}
	}
	return sides
}

// has reports whether a list has a member.
func has(list []Listed, id uint64) bool {
	return slices.ContainsFunc(list, func(l Listed) bool { return l.ID == id })
}
