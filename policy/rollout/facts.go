// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Facts are the facts about a cluster whose StatefulSets are to restart pods.
type Facts struct {
	// Cluster is the cluster at this moment. Its Operation is ignored: it is the rollout itself.
	Cluster policy.Cluster
	// Confirmed is false while the health of a member depends on a lease of unknown age.
	Confirmed bool
	// Leaving are the pods whose eviction was admitted a moment ago.
	Leaving []string
	// Sets are the StatefulSets of the cluster. Most clusters have one.
	Sets []Set
	// Reason is why a user releases the rollout by hand, empty for not at all.
	Reason string
	// Since is the time since the last step of the rollout, or since it was held.
	Since time.Duration
	// Unguarded is true if no policy holds the rollout any more, and UnguardedFor is for how long.
	Unguarded    bool
	UnguardedFor time.Duration
}

// Set is a StatefulSet.
type Set struct {
	Name string
	// Held is true if this project holds its rollout. No other set is changed.
	Held bool
	// Value is the strategy in force.
	Value Value
	// Author is the partition that its author chose. Pods below it stay as they are.
	Author int
	// Several is true if the strategy of its author lets its controller restart more than one pod at once.
	Several bool
	// Observed is true once the StatefulSet's controller has seen the last change of it.
	Observed bool
	// Ordered is true if its controller makes no progress past a pod that is not Ready.
	Ordered bool
	// Pods are its replicas by ordinal, from 0. One that doesn't exist now has Exists false.
	Pods []Pod
}

// Pod is a replica of a StatefulSet.
type Pod struct {
	policy.Member
	// Updated is true if it has the newest revision of the template.
	Updated bool
	// Going is true while it is being deleted.
	Going bool
	// Young is true if the pod is Ready, and the pod or its member counts as not ready only because it has been so for a
	// short time.
	Young bool
	// Failing is true if time alone does not make it start: no node fits, its image can't be pulled,
	// or its containers end by themselves again and again.
	Failing bool
	// DataEnds is true if the member's data may end with the pod. It is only known while there is no
	// quorum and the pod is not Ready.
	DataEnds bool
	// PeersMove is true if the member listens for peers on other schemes or ports than with the newest template,
	// and no program manages the members.
	PeersMove bool
	// NotReadyFor is how long it has not been Ready, 0 for a pod that is Ready, and for one of which only
	// the node sends no status.
	NotReadyFor time.Duration
	// StartedFor is how long ago its containers first ran, 0 while one of them never did. Before that, its etcd
	// can't have become ready.
	StartedFor time.Duration
	// MissingFor is how long it has not existed, as far as is known. 0 for a pod that exists.
	MissingFor time.Duration
}

// releaseLimit is how long a pod stays released while the StatefulSet's controller does not act.
const releaseLimit = 30 * time.Second

// createLimit is how long a pod that a StatefulSet's controller creates again may be missing. One that
// is missing for longer can't be created with the template that it had.
const createLimit = time.Minute

// outageLimit is how long a member must have been down before it restarts without a quorum, and before the next one
// restarts if it has the newest template. Nodes that reboot, networks that fail for a moment, and members that start
// are back before that.
const outageLimit = 2 * time.Minute

// startLimit is how long a pod whose containers have not all run may take until it counts as one that does not become
// ready by itself: for its image, its volume, and init containers.
const startLimit = 15 * time.Minute

// Value is the strategy of a StatefulSet: OnDelete, or RollingUpdate with a partition. Its controller
// restarts no pod of a lower ordinal than the partition, and creates such pods with the old template.
type Value struct {
	OnDelete  bool
	Partition int
}

// outdated reports whether a pod is there with an older template than the newest.
func (p Pod) outdated() bool { return p.Exists && !p.Going && !p.Updated }

// down reports whether nothing is lost if the pod restarts. On a lost node it may run, and a restart does not cure it:
// the pod stays there until the node is back.
func (p Pod) down() bool {
	return p.Exists && !p.Going && !p.Young && !p.Ready && !p.PodReady && p.NodeLost == ""
}

// well reports whether both the pod and its member are ready.
func (p Pod) well() bool { return p.Exists && !p.Going && p.Ready && p.PodReady }

// ailing reports whether the pod or its member is not ready: a member that hangs may be in a pod that is Ready.
// One that only has to be ready for longer needs no cure.
func (p Pod) ailing() bool { return p.Exists && !p.Going && !p.Young && !p.well() }

// starting reports whether a pod with the newest template may yet become ready by itself. That it is not ready shows
// only after that time that its readiness waits for a quorum, and not for its etcd.
func (p Pod) starting() bool {
	return p.Updated && p.Exists && !p.Going && !p.well() && (p.StartedFor < outageLimit && p.NotReadyFor < startLimit || !p.PodReady && p.NotReadyFor < outageLimit)
}

// absent reports whether a pod is being created again.
func (p Pod) absent() bool { return !p.Exists || p.Going }

// missing reports whether a pod does not exist, and nothing of it remains to be deleted.
func (p Pod) missing() bool { return !p.Exists && !p.Going }

// next returns the highest ordinal that the rollout is yet to restart, -1 for none.
func (s *Set) next() int {
	for i := len(s.Pods) - 1; i >= s.Author; i-- {
		if s.Pods[i].outdated() {
			return i
		}
	}
	return -1
}

// complete reports whether the author's strategy restarts no pod.
func (s *Set) complete() bool {
	return s.Observed && s.next() < 0 && !slices.ContainsFunc(s.Pods, Pod.absent)
}

// held returns the value with which no further pod restarts. One that was released and has not been
// deleted yet is held again. A pod that is being created again gets the template that it was to get.
func (s *Set) held() Value {
	last := -1
	for i, p := range s.Pods {
		if p.outdated() {
			last = i
		}
	}
	switch {
	case s.Value.OnDelete && slices.ContainsFunc(s.Pods, Pod.absent):
		return s.Value
	case s.Value.OnDelete:
		return Value{Partition: max(last+1, s.Author)}
	}
	return Value{Partition: max(last+1, s.Author, s.Value.Partition)}
}

// readyOnLostNode reports whether the pod is still Ready although its node is lost.
func (p Pod) readyOnLostNode() bool { return p.Exists && !p.Going && p.PodReady && p.NodeLost != "" }

// waitsInOrder reports whether a pod is missing because the StatefulSet's controller waits for a pod
// of a lower ordinal. It does not wait for one that is Ready on a lost node.
func (s *Set) waitsInOrder(i int) bool {
	return s.Ordered && slices.ContainsFunc(s.Pods[:i], func(p Pod) bool { return !p.well() && !p.readyOnLostNode() })
}

// getsNewest reports whether a pod gets the newest template when it is created now.
func (s *Set) getsNewest(i int) bool { return s.Value.OnDelete || i >= s.Value.Partition }

// uncreatable reports whether a pod can't be created with the template that it had.
func (s *Set) uncreatable(i int) bool {
	p := s.Pods[i]
	return p.missing() && p.MissingFor >= createLimit && s.Held && !s.getsNewest(i) && !s.waitsInOrder(i)
}

// restarting returns the value with which a pod of the set gets the new template when it is created
// again, and no other pod restarts.
func (s *Set) restarting(i int) Value {
	if i >= s.next() {
		return Value{Partition: i}
	}
	return Value{OnDelete: true}
}
