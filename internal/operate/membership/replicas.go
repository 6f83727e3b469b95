// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// readReplica reads one ordinal: pod, claims, and how its member is or would be configured.
func (m *Members) readReplica(ctx context.Context, s *observation, ordinal int) error {
	replica := membership.Replica{Pod: m.Owner.PodName(ordinal)}
	config, err := s.template.etcdConfig(ctx, m.Reader, s.sts, replica.Pod)
	if err != nil {
		return err
	}
	s.configs = append(s.configs, config)
	urls := slices.Sorted(slices.Values(config.AdvertisePeer))
	replica.URL = strings.Join(urls, ",")
	if pod := s.pods[replica.Pod]; pod != nil {
		replica.UID, replica.Terminating = string(pod.UID), pod.DeletionTimestamp != nil
		replica.Updated = pod.Labels[appsv1.StatefulSetRevisionLabel] == s.sts.Status.UpdateRevision
	}
	for _, c := range m.Owner.Claims {
		claim := &corev1.PersistentVolumeClaim{}
		err := m.Kube.Get(ctx, client.ObjectKey{Namespace: m.Owner.Namespace, Name: c.Template + "-" + replica.Pod}, claim)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return fmt.Errorf("read PersistentVolumeClaim %s-%s: %w", c.Template, replica.Pod, err)
		}
		s.claims[replica.Pod] = append(s.claims[replica.Pod], claim)
		if claim.DeletionTimestamp != nil {
			replica.TerminatingClaims++
		} else {
			replica.Claims = append(replica.Claims, string(claim.UID))
		}
	}
	s.Ordinals = append(s.Ordinals, replica)
	return nil
}

// matchMembers matches etcd's members with the ordinals, and judges what they report.
func (m *Members) matchMembers(s *observation) {
	at := 0
	if len(s.configs) > 0 {
		s.Bootstrap = bootstrapOf(s.configs[len(s.configs)-1])
		at = len(s.configs) - 1
	}
	answers, leading := s.answers()
	near := map[uint64]int{}
	for _, l := range s.survey.List {
		p := m.locate(s, l)
		s.names[p.URL] = l.Name
		if p.Ordinal >= 0 {
			member, answered := answers[s.Ordinals[p.Ordinal].Pod]
			p.Healthy = answered && member.ID == l.ID && s.survey.Healthy(member)
			p.Leader = p.Healthy && member.Leader
			if p.Healthy && l.Learner && leading > 0 && member.CaughtUpTo(leading) {
				near[l.ID] = m.near[l.ID] + 1
			}
		}
		p.CaughtUp = near[l.ID] >= membership.CatchUpReads
		s.Members = append(s.Members, p)
	}
	m.near = near
	s.probeTemplate = s.template.clone()
	s.editErr = s.probeTemplate.setBootstrap(s.configs[at], "x=http://x:2380", "x")
	s.InTemplate = !equality.Semantic.DeepEqual(s.probeTemplate.template, s.template.template)
}

// answers returns what the member of each pod answered, and the leader's raft index, 0 without a
// leader.
func (s *observation) answers() (byPod map[string]etcd.Member, leading uint64) {
	byPod = map[string]etcd.Member{}
	for _, member := range s.survey.Members {
		byPod[member.Pod] = member
	}
	leader, _ := s.survey.Leader()
	return byPod, leader.RaftIndex
}

// locate returns a member of etcd's list with its ordinal, negative for none.
func (m *Members) locate(s *observation, l etcd.Listed) membership.Peer {
	p := membership.Peer{ID: l.ID, URL: strings.Join(slices.Sorted(slices.Values(l.PeerURLs)), ","), Learner: l.Learner}
	if p.Ordinal = slices.IndexFunc(s.Ordinals, func(replica membership.Replica) bool { return replica.URL == p.URL }); p.Ordinal < 0 && l.Pod != "" {
		p.Ordinal = m.Owner.Ordinal(l.Pod)
	}
	return p
}

// initialCluster returns a launch as etcd reads it. A member that has not started yet
// has no name in etcd's list; its pod's configuration knows it.
func (s *observation) initialCluster(l membership.BootstrapFlags) string {
	var entries []string
	for _, urls := range l.URLs {
		name := s.names[urls]
		for ordinal, replica := range s.Ordinals {
			if replica.URL == urls {
				name = s.configs[ordinal].Name
			}
		}
		for url := range strings.SplitSeq(urls, ",") {
			entries = append(entries, name+"="+url)
		}
	}
	return strings.Join(entries, ",")
}

// notRunningReason returns why the pod of an ordinal doesn't run, empty where it does, and for unknown.
func (s *observation) notRunningReason(ordinal int) string {
	if ordinal >= len(s.Ordinals) {
		return ""
	}
	pod := s.pods[s.Ordinals[ordinal].Pod]
	if pod == nil {
		return ": its pod has not been created"
	}
	if problem := podstate.Of(pod); problem.State != "" {
		return ": its pod is " + problem.String()
	}
	return ""
}
