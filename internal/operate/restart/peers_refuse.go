// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// unreachable returns the refusal of a next pod whose configuration contradicts itself.
func (p peers) unreachable(pod string) string {
	return fmt.Sprintf("the next pod of %s can't be reached by other members: %s; set --initial-advertise-peer-urls in the pod template to the URL by which others reach it", pod, p.contradiction)
}

// checkPeers refuses next pods that others can't reach by any peer URL, and warns of those that are not known.
func (s *state) checkPeers(f *operate.Findings) {
	unknown := ""
	for _, m := range s.Members {
		p := s.peers[m.Pod]
		unknown = cmp.Or(unknown, p.unknown)
		if p.contradiction != "" {
			f.Refuse("%s", p.unreachable(m.Pod))
		}
	}
	if len(s.moving) > 0 {
		f.Warn("etcd's member list can't be read, and the next pods of %s listen for peers on other schemes or ports. If the list still has the old URLs, the members don't reach each other. First bring back a member that answers, or restore the pod template.", policy.List(s.moving))
	}
	if unknown != "" {
		f.Warn("It is not known which peer URLs the next pods have (%s), so those in etcd's member list stay. If the change is of their scheme or port, write --listen-peer-urls and --initial-advertise-peer-urls into the pod template first.", unknown)
	}
}

// refusePeers refuses to restart a member alone if others can't reach its next pod by the URLs in etcd's list, and
// reach its current pod. A program that manages the members may update them itself, and a single member has no others.
func (j *Job) refusePeers(ctx context.Context, s *state, only []string, f *operate.Findings) error {
	if managed := j.notCoordinated(); len(s.Members) < 2 || managed != "" && !j.Owner.InParts() {
		return nil
	}
	all, err := j.readPeers(ctx, s, s.listing(ctx, j.members), true)
	if err != nil {
		return err
	}
	for _, pod := range only {
		p := all[pod]
		switch {
		case p.served, p.contradiction == "" && len(p.due) == 0: // the pod listens as before, or is reached
			continue
		case p.contradiction != "":
			f.Refuse("%s", p.unreachable(pod))
			return nil
		}
		way := fmt.Sprintf("restart all members at once, which updates the list: kubectl etcd restart %s -n %s --strategy coordinated", j.Owner.Target(), j.Owner.Namespace)
		if j.Owner.InParts() {
			way = "restore the scheme and port that the pod template had: members in several StatefulSets can't be restarted at once"
		}
		f.Refuse("etcd's member list has the peer URL %s of %s, on which its next pod doesn't listen, so the others would not reach it; %s", strings.Join(p.listed, ","), pod, way)
		return nil
	}
	return nil
}
