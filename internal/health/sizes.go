// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// SizeBefore returns how many pods the StatefulSet had before a user scaled it in, as far as member lists
// show it, and Size where they show no more or the plugin doesn't change the members.
func (f *Facts) SizeBefore() int {
	if f.Owner.StatefulSet == "" || f.Owner.Membership().Manager != flavour.Unmanaged {
		return f.Size()
	}
	before := max(f.Size(), f.LastVoters)
	for _, l := range f.Survey.Value.List {
		if l.Pod == "" {
			before = max(before, f.Owner.Ordinal(l.Name)+1)
		}
	}
	return before
}

// returns reports whether so many replicas bring back only members with their data: each pod that went
// has a volume claim template, and its claims are bound.
func (f *Facts) returns(replicas int) bool {
	if f.Away.Err != nil || len(f.Owner.Claims) == 0 || replicas > f.SizeBefore() {
		return false
	}
	for at := f.Size(); at < replicas; at++ {
		if f.claimsGone(at) {
			return false
		}
	}
	return true
}

// awayGone counts the voters that were scaled away and whose volume claims are gone.
func (f *Facts) awayGone() int {
	gone := 0
	for at := f.Size(); f.Away.Err == nil && at < min(f.LastVoters, f.SizeBefore()); at++ {
		gone += map[bool]int{true: 1}[f.claimsGone(at)]
	}
	return gone
}

// claimsGone reports whether a volume claim of a pod that was scaled away isn't there to stay.
func (f *Facts) claimsGone(ordinal int) bool {
	return slices.ContainsFunc(f.Owner.ClaimsOf(ordinal), func(template owner.Claim) bool {
		return !slices.ContainsFunc(f.Away.Value, func(c corev1.PersistentVolumeClaim) bool {
			return c.Name == template.Template+"-"+f.Owner.PodName(ordinal) && c.DeletionTimestamp == nil && c.Status.Phase == corev1.ClaimBound
		})
	})
}

// ContactWith returns what the leader shows of the member of a pod.
func (f *Facts) ContactWith(pod string) membership.Contact {
	i := slices.IndexFunc(f.Survey.Value.List, func(l etcd.Listed) bool { return l.Pod == pod })
	if i < 0 {
		return membership.ContactUnknown
	}
	return f.Silences[f.Survey.Value.List[i].ID].Contact
}

// stoppedAs returns the workload that was scaled in and that brings back a member with its data, and the
// number of replicas that it needs for that. The workload is empty for none.
func (f *Facts) stoppedAs(l etcd.Listed) (workload string, replicas int) {
	if f.PodElsewhere(l) != "" { // it has a pod, and a second one would have its name
		return "", 0
	}
	if pod, replicas := f.scaledAway(l); pod != "" {
		return "statefulset/" + f.Owner.StatefulSet, replicas
	}
	s := f.Silences[l.ID]
	return s.Stopped, s.Replicas
}

// mayHaveMore returns the finding about budgets of a cluster of which one member is known and that may
// have more: no number is right then, and none is wrong. Where a member list is known, it decides.
func (f *Facts) mayHaveMore() ([]Finding, bool) {
	c := f.Cluster.Value.Cluster
	listed := f.listKnown() && (f.voters().total == 1 || f.counted().voters > 1) || f.LastVoters > 1
	if f.Size() != 1 || c.Single() || listed {
		return nil, false
	}
	why := cmp.Or(c.SizeUnknown, fmt.Sprintf("it may have %d", c.Size))
	return []Finding{{Level: Unknown, Message: "one member is known, and it is not known which others the cluster has: " + why, repeated: true}}, true
}
