// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// peers is what is known of a member's peer URLs.
type peers struct {
	id uint64
	// listed are those in etcd's list, and due those that the list is to get, none if it has the right ones.
	listed, due []string
	// served is true if its current pod listens on what the due URLs are for.
	served bool
	// contradiction is why its configuration has no right ones, and unknown why they are not known.
	contradiction, unknown string
}

// readPeers compares etcd's list with the peer URLs of the next pods, or of the pods that there are. No result
// has those of a member that the list doesn't have.
func (j *Job) readPeers(ctx context.Context, s *state, list []etcd.Listed, next bool) (map[string]peers, error) {
	files := podfiles.New(j.Reader, j.Owner.Namespace)
	all := map[string]peers{}
	for _, l := range list {
		at := slices.IndexFunc(s.pods, func(p *corev1.Pod) bool { return p.Name == l.Pod })
		if at < 0 {
			continue
		}
		now, nowErr := files.Config(ctx, s.pods[at])
		due, err := now, nowErr
		if next {
			due, err = files.Config(ctx, j.nextPod(s, s.pods[at]))
		}
		p := peers{id: l.ID, listed: l.PeerURLs}
		if err != nil {
			if notRead(ctx, err) {
				return nil, err
			}
			p.unknown = err.Error()
		} else {
			p.compare(now, nowErr == nil, due)
		}
		all[l.Pod] = p
	}
	return all, nil
}

// compare compares the list with a configuration. now is the one of the pod that runs, if that was read.
func (p *peers) compare(now etcdconf.Config, read bool, due etcdconf.Config) {
	due.AdvertisePeer = withListedHosts(due.AdvertisePeer, p.listed)
	if p.unknown = unknownPeerURLs(due, p.listed); p.unknown != "" {
		return
	}
	now.AdvertisePeer = due.AdvertisePeer // only its listeners count
	var listeners []string
	if read && unknownPeerURLs(now, p.listed) == "" {
		listeners = now.PeerListeners()
	}
	p.served = len(listeners) > 0 && slices.Equal(listeners, due.PeerListeners())
	p.due, p.contradiction = duePeerURLs(p.listed, due, listeners)
}

// listing returns etcd's list, without a quorum that of the first member that answers.
func (s *state) listing(ctx context.Context, members *etcd.Cluster) []etcd.Listed {
	if s.survey.ListErr == nil {
		return s.survey.List
	}
	for _, m := range s.survey.Members {
		if m.ID == 0 {
			continue
		}
		if list, err := members.OwnList(ctx, m.Pod); err == nil {
			return list
		}
	}
	return nil
}

// nextPod returns the pod that a StatefulSet's controller creates after a pod has stopped.
func (j *Job) nextPod(s *state, pod *corev1.Pod) *corev1.Pod {
	at := slices.IndexFunc(s.sets, func(sts *appsv1.StatefulSet) bool { return sts.Name == j.setOf(pod.Name) })
	if at < 0 {
		return pod
	}
	sts := s.sets[at]
	u := sts.Spec.UpdateStrategy.RollingUpdate
	if u != nil && u.Partition != nil && owner.OfStatefulSet(sts).Ordinal(pod.Name) < int(*u.Partition) {
		return pod // the partition keeps its template
	}
	return etcdconf.NextPod(sts, &sts.Spec.Template, pod.Name)
}

// addPeers adds what the rule must know of the peer URLs.
func (j *Job) addPeers(ctx context.Context, s *state, c *rules.Coordinated) (err error) {
	list := s.listing(ctx, j.members)
	if c.PeersUnread = len(list) == 0; c.PeersUnread {
		s.moving, err = j.movingPods(ctx, s)
		return err
	}
	if s.peers, err = j.readPeers(ctx, s, list, c.ByNextPods()); err != nil {
		return err
	}
	own, err := j.members.OwnLists(ctx, s.survey.Members)
	if err != nil {
		return err
	}
	for i := range c.Members {
		m := &c.Members[i]
		p := s.peers[m.Pod]
		m.PeersDiffer, m.PeersServed = len(p.due) > 0, len(p.due) > 0 && p.served
		for pod, list := range own {
			c.PeersLag = c.PeersLag || s.healthy(pod) && p.differs(list)
		}
	}
	return nil
}

// movingPods returns the pods whose next pods are known to listen for peers on no scheme and port on which they
// listen.
func (j *Job) movingPods(ctx context.Context, s *state) (names []string, err error) {
	files := podfiles.New(j.Reader, j.Owner.Namespace)
	for _, pod := range s.pods {
		now, nowErr := files.Config(ctx, pod)
		next, nextErr := files.Config(ctx, j.nextPod(s, pod))
		if err := cmp.Or(nowErr, nextErr); err != nil {
			if notRead(ctx, err) {
				return nil, err
			}
			continue
		}
		known := now.Unknown["listen-peer-urls"] == "" && next.Unknown["listen-peer-urls"] == ""
		if known && etcdconf.PeersMove(now, next) {
			names = append(names, pod.Name)
		}
	}
	return names, nil
}

// differs reports whether a list has other peer URLs of the member than the one with a quorum.
func (p peers) differs(list []etcd.Listed) bool {
	return slices.ContainsFunc(list, func(l etcd.Listed) bool {
		return l.ID == p.id && !slices.Equal(slices.Sorted(slices.Values(l.PeerURLs)), slices.Sorted(slices.Values(p.listed)))
	})
}

func (s *state) healthy(pod string) bool {
	return slices.ContainsFunc(s.Members, func(m rules.Member) bool { return m.Pod == pod && m.Trouble == "" })
}
