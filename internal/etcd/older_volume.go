// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// restoreTime is within what time after its beginning a restore has created the volumes of all members.
const restoreTime = 24 * time.Hour

// Volumes shows since when members have their data. What could not be read is no evidence.
type Volumes struct {
	// Claims are the volume claims of each pod.
	Claims map[string][]*corev1.PersistentVolumeClaim
	// Restores are when restores of the cluster began that keep the old data.
	Restores []time.Time
}

// MayPredate reports whether a voter of the list doesn't answer and has never started in the log of those that answer.
// The volume of its pod then shows whether it may have data from before.
func (s Survey) MayPredate(l Listed, pod string) bool {
	answers := func(m Member) bool { return m.Pod == pod && (m.Err == nil || m.ID != 0) }
	return pod != "" && l.neverStarted() && !slices.ContainsFunc(s.Members, answers)
}

// OlderVolume reports whether a voter that doesn't answer may have data from before the log of those that answer,
// whether or not its etcd runs: it has never started in that log, and its pod has its volume for longer than each
// member that answers. A restore that keeps old data also begins a new log on volumes of different ages, and so is no
// evidence. Unlike Predates, this doesn't prove that there is data on the volume.
func (s Survey) OlderVolume(l Listed, pod string, v Volumes) bool {
	own, known := heldSince(v.Claims[pod])
	if !known || !s.MayPredate(l, pod) {
		return false
	}
	var first time.Time
	for _, m := range s.Members {
		if m.Err != nil {
			continue
		}
		at, known := owner.OldestVolume(v.Claims[m.Pod])
		if !known || at.Sub(own) < RanLonger {
			return false
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return !first.IsZero() && !slices.ContainsFunc(v.Restores, func(at time.Time) bool {
		return !at.Before(own) && first.Sub(at) < restoreTime
	})
}

// VolumesOf reads the volumes of the members that answer and of a pod, if the voter of the list that it runs may have
// data from before the log of the others. What can't be read is no evidence.
func (s Survey) VolumesOf(ctx context.Context, r *observe.Reader, o owner.Owner, l Listed, pod string) Volumes {
	if !s.MayPredate(l, pod) {
		return Volumes{}
	}
	pods := []string{pod}
	for _, m := range s.Members {
		if m.Err == nil {
			pods = append(pods, m.Pod)
		}
	}
	claims, err := r.MemberClaims(ctx, o, pods...)
	if err != nil {
		return Volumes{}
	}
	return Volumes{Claims: claims, Restores: o.RestoredAt()}
}

// heldSince returns when the newest of a pod's volume claims was created. It returns false if there is none, or if one
// has no volume, or is being deleted: then a user needs its data no more.
func heldSince(claims []*corev1.PersistentVolumeClaim) (time.Time, bool) {
	if slices.ContainsFunc(claims, func(c *corev1.PersistentVolumeClaim) bool {
		return c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimBound
	}) {
		return time.Time{}, false
	}
	return owner.VolumeSince(claims)
}
