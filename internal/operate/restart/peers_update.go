// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// updatePeers has etcd's list get the due peer URLs of the next member.
func (j *Job) updatePeers(ctx context.Context, s *state, c rules.Coordinated) error {
	at, ok := c.NextUpdate()
	via := slices.IndexFunc(c.Members, func(m rules.Member) bool { return m.Trouble == "" })
	if !ok || via < 0 {
		return nil // it is decided again
	}
	pod := c.Members[at].Pod
	p := s.peers[pod]
	client, err := j.members.Client(ctx, c.Members[via].Pod)
	if err != nil {
		return err
	}
	if _, err := client.MemberUpdate(ctx, p.id, p.due); err != nil {
		return fmt.Errorf("update the peer URLs of %s: %w", pod, err)
	}
	j.Logf("the peer URLs of %s in etcd's member list are %s", pod, strings.Join(p.due, ","))
	return nil
}

// planPeers returns the updates of peer URLs in a coordinated restart.
func planPeers(s *state, c rules.Coordinated) (steps []string) {
	for _, at := range c.UpdateOrder() {
		pod := c.Members[at].Pod
		p := s.peers[pod]
		steps = append(steps, fmt.Sprintf("update the peer URLs of %s in etcd's member list from %s to %s", pod, strings.Join(p.listed, ","), strings.Join(p.due, ",")))
	}
	return steps
}

// notePeers notes the peer URLs that stay different at the end of --abort.
func (j *Job) notePeers(s *state, c rules.Coordinated) {
	if c.Abort && c.PeersUnread && len(c.Members) > 1 {
		j.notes = append(j.notes, policy.NewNote(rules.PeersUpdated, "etcd's member list can't be read, so it is not known whether it has the peer URLs of the pods; when there is a quorum, this updates it where it differs: kubectl etcd restart %s -n %s --strategy coordinated",
			j.Owner.Target(), j.Owner.Namespace))
	}
	if !c.Abort || !c.PeersDiffer() {
		return
	}
	var updates []string
	for _, at := range c.UpdateOrder() {
		if p := s.peers[c.Members[at].Pod]; len(p.due) > 0 {
			updates = append(updates, fmt.Sprintf("etcdctl member update %s --peer-urls=%s", etcd.HexID(p.id), format.Quote(strings.Join(p.due, ","))))
		}
	}
	if len(updates) > 0 {
		j.notes = append(j.notes, policy.NewNote(rules.PeersUpdated, "etcd's member list has other peer URLs than the pods, and can't be changed without a quorum; when there is one: %s", strings.Join(updates, "; ")))
	}
}
