// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
)

// peerURLs compares the peer URLs in etcd's list with those that the members' pods advertise. Where one is the same,
// which is the usual case, it reads nothing.
func (g *gatherer) peerURLs(ctx context.Context) {
	g.PeerURLs = map[uint64]health.Got[peers.Lead]{}
	list := g.Survey.Value.List
	if g.Survey.Err != nil || g.Survey.Value.ListErr != nil || len(list) < 2 {
		return
	}
	reader := cmp.Or(g.unlisted, g.Reader) // a kind that may not be listed is not known to be empty
	for _, l := range list {
		pod := health.PodNamed(g.Pods.Value, runs(g.Survey.Value, l))
		if pod == nil {
			continue
		}
		config := g.Serving[pod.Name]
		if config.Err != nil {
			g.PeerURLs[l.ID] = health.Got[peers.Lead]{Err: config.Err}
			continue
		}
		g.PeerURLs[l.ID] = got(peers.LeadOf(ctx, reader, pod, config.Value, l.PeerURLs))
	}
}

// runs returns the pod in which a member of the list runs. A wrong peer URL may be that of another pod, so the ID with
// which a pod answers comes first.
func runs(s etcd.Survey, l etcd.Listed) string {
	for _, m := range s.Members {
		if m.ID == l.ID {
			return m.Pod
		}
	}
	return l.Pod
}
