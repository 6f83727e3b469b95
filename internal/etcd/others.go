// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
)

// Beyond returns the endpoints of the pods that may run an entry of the member list and that Kubernetes doesn't show as
// pods of the cluster. taken are the pods of other entries.
type Beyond func(ctx context.Context, l Listed, taken map[string]bool) ([]access.Endpoint, error)

// Beyond returns what finds the pods of the namespace that run other members than those of an owner: StatefulSets,
// Deployments and single pods whose lists don't name each other are several clusters to Kubernetes, and may be one to
// etcd.
func (a Access) Beyond(r *observe.Reader, o owner.Owner) Beyond {
	given := a.Credentials
	given.Note = nil                      // about a pod that may be no member
	given.User, given.UserSecret = "", "" // nothing but the pod's own objects shows that it may have a password
	return func(ctx context.Context, l Listed, taken map[string]bool) ([]access.Endpoint, error) {
		names, err := peers.PodsOf(ctx, r, o.Namespace, peers.Peer{Name: l.Name, URLs: l.PeerURLs}, taken)
		if len(names) == 0 {
			return nil, err
		}
		var pods []*corev1.Pod
		for _, name := range names {
			var pod corev1.Pod
			found, err := r.Fetch(ctx, o.Namespace, name, &pod)
			if err != nil {
				return nil, fmt.Errorf("observe pod %s/%s: %w", o.Namespace, name, err)
			}
			if found {
				pods = append(pods, &pod)
			}
		}
		return access.EndpointsOf(ctx, r, o, given, pods)
	}
}

// askOthers asks the members of the list that no pod of the cluster runs, as far as other pods may run them. It
// returns those that answer as the listed member of the same etcd cluster, and follow the leader that the cluster's own
// members follow: a pod with its name or address can also be a member of another cluster, or pretend to be this one.
func (c *Cluster) askOthers(ctx context.Context, s Survey) []Member {
	id, leader := s.clusterID(), s.Followed()
	if c.Beyond == nil || s.ListErr != nil || leader == 0 {
		return nil
	}
	taken := map[string]bool{}
	for _, e := range c.Endpoints {
		taken[e.Pod] = true
	}
	answers := make([]Member, len(s.List))
	var wait sync.WaitGroup
	for i, l := range s.List {
		if l.Pod != "" {
			continue
		}
		wait.Go(func() {
			endpoints, _ := c.Beyond(ctx, l, taken) // without them, it is a member that no pod is known to run
			for _, e := range endpoints {
				c.know(e)
				if m := c.Status(ctx, e.Pod); m.isListed(l, id, leader) {
					m.Name = l.Name
					answers[i] = m
				}
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(answers, func(m Member) bool { return m.ID == 0 })
}

// isListed reports whether a member answers as one of the list of an etcd cluster, and follows a leader.
func (m Member) isListed(l Listed, clusterID, leader uint64) bool {
	return m.Err == nil && m.ID == l.ID && m.ClusterID == clusterID && m.LeaderID == leader
}

// know records the endpoint of a pod that is not one of the cluster's.
func (c *Cluster) know(e access.Endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.others == nil {
		c.others = map[string]access.Endpoint{}
	}
	c.others[e.Pod] = e
}

// Answers returns the members that answer, also those that other pods than the cluster's run.
func (s Survey) Answers() []Member {
	return slices.DeleteFunc(slices.Concat(s.Members, s.Others), func(m Member) bool { return m.Err != nil })
}

// Other returns what a member of the list answers that no pod of the cluster runs. It returns false if no other pod
// answers as it.
func (s Survey) Other(id uint64) (Member, bool) {
	at := slices.IndexFunc(s.Others, func(m Member) bool { return m.ID == id })
	if at < 0 {
		return Member{}, false
	}
	return s.Others[at], true
}

// clusterID returns the ID of the etcd cluster whose list the survey has.
func (s Survey) clusterID() uint64 {
	for _, m := range s.Members {
		if m.Err == nil {
			return m.ClusterID
		}
	}
	return 0
}
