// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// readReplica reads one place: pod, claims, and how its member is or would be configured.
func (m *Members) readReplica(ctx context.Context, s *observation, place int) error {
	seat := membership.Replica{Pod: m.Owner.PodName(place)}
	serving, err := s.template.serving(ctx, m.Reader, s.sts, seat.Pod)
	if err != nil {
		return err
	}
	s.serving = append(s.serving, serving)
	urls := slices.Sorted(slices.Values(serving.AdvertisePeer))
	seat.URL = strings.Join(urls, ",")
	if pod := s.pods[seat.Pod]; pod != nil {
		seat.UID, seat.Terminating = string(pod.UID), pod.DeletionTimestamp != nil
		seat.Updated = pod.Labels[appsv1.StatefulSetRevisionLabel] == s.sts.Status.UpdateRevision
	}
	for _, c := range m.Owner.Claims {
		claim := &corev1.PersistentVolumeClaim{}
		err := m.Kube.Get(ctx, client.ObjectKey{Namespace: m.Owner.Namespace, Name: c.Template + "-" + seat.Pod}, claim)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return fmt.Errorf("read PersistentVolumeClaim %s-%s: %w", c.Template, seat.Pod, err)
		}
		s.claims[seat.Pod] = append(s.claims[seat.Pod], claim)
		if claim.DeletionTimestamp != nil {
			seat.TerminatingClaims++
		} else {
			seat.Claims = append(seat.Claims, string(claim.UID))
		}
	}
	s.Ordinals = append(s.Ordinals, seat)
	return nil
}

// matchMembers matches etcd's members with the places, and judges what they said.
func (m *Members) matchMembers(s *observation) {
	at := 0
	if len(s.serving) > 0 {
		s.Bootstrap = bootstrapOf(s.serving[len(s.serving)-1])
		at = len(s.serving) - 1
	}
	said, leading := s.answers()
	near := map[uint64]int{}
	for _, l := range s.survey.List {
		p := m.locate(s, l)
		s.names[p.URL] = l.Name
		if p.Ordinal >= 0 {
			member, answered := said[s.Ordinals[p.Ordinal].Pod]
			p.Healthy = answered && member.Err == nil && member.ID == l.ID && member.LeaderID != 0
			p.Leader = p.Healthy && member.Leader
			if p.Healthy && l.Learner && leading > 0 && member.RaftApplied+policy.LagLimit >= leading {
				near[l.ID] = m.near[l.ID] + 1
			}
		}
		p.CaughtUp = near[l.ID] >= membership.CatchUpReads
		s.Members = append(s.Members, p)
	}
	m.near = near
	s.probeTemplate = s.template.clone()
	s.editErr = s.probeTemplate.setBootstrap(s.serving[at], "x=http://x:2380", "x")
	s.InTemplate = !equality.Semantic.DeepEqual(s.probeTemplate.template, s.template.template)
}

// answers is what each pod's member answered, and the raft index that the leader is at, 0
// without one.
func (s *observation) answers() (said map[string]etcd.Member, leading uint64) {
	said = map[string]etcd.Member{}
	for _, member := range s.survey.Members {
		said[member.Pod] = member
		if member.Err == nil && member.Leader {
			leading = member.RaftIndex
		}
	}
	return said, leading
}

// locate is a member of etcd's list with its place, negative where it has none.
func (m *Members) locate(s *observation, l etcd.Listed) membership.Peer {
	p := membership.Peer{ID: l.ID, URL: strings.Join(slices.Sorted(slices.Values(l.PeerURLs)), ","), Learner: l.Learner}
	if p.Ordinal = slices.IndexFunc(s.Ordinals, func(seat membership.Replica) bool { return seat.URL == p.URL }); p.Ordinal < 0 && l.Pod != "" {
		p.Ordinal = m.Owner.Ordinal(l.Pod)
	}
	return p
}

// initialCluster is a launch as etcd reads it. A member that has not started yet
// has no name in etcd's list; its pod's configuration knows it.
func (s *observation) initialCluster(l membership.BootstrapFlags) string {
	var entries []string
	for _, urls := range l.URLs {
		name := s.names[urls]
		for place, seat := range s.Ordinals {
			if seat.URL == urls {
				name = s.serving[place].Name
			}
		}
		for url := range strings.SplitSeq(urls, ",") {
			entries = append(entries, name+"="+url)
		}
	}
	return strings.Join(entries, ",")
}

// deletionGrace is how long after its time a pod that is deleted may still end by itself.
const deletionGrace = 30 * time.Second

// deletionBlockedBy says of a pod that can't end by itself how it can, and is empty for all others.
func (m *Members) deletionBlockedBy(pod *corev1.Pod) string {
	if pod == nil || pod.DeletionTimestamp == nil {
		return ""
	}
	late := m.Clock.Now().Sub(pod.DeletionTimestamp.Time)
	if late < deletionGrace {
		return ""
	}
	return fmt.Sprintf("pod %s is being deleted and should have ended %s ago, so node %s may be gone; once it surely is: kubectl delete node %s, or kubectl delete pod %s -n %s --force --grace-period=0",
		pod.Name, late.Round(time.Second), pod.Spec.NodeName, pod.Spec.NodeName, pod.Name, pod.Namespace)
}

// notRunningReason says why a place's pod doesn't run, empty where it does or nobody knows.
func (s *observation) notRunningReason(place int) string {
	if place >= len(s.Ordinals) {
		return ""
	}
	pod := s.pods[s.Ordinals[place].Pod]
	if pod == nil {
		return ": its pod has not been made"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return ": its pod can't be scheduled: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			return strings.TrimSpace(fmt.Sprintf(": container %s waits, %s %s", c.Name, w.Reason, w.Message))
		}
	}
	return ""
}
