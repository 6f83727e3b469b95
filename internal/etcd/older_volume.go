// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Volumes shows since when members have their data. What could not be read is no evidence.
type Volumes struct {
	// Claims are the volume claims of each pod that have its data, or all where it is not known which.
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
// whether or not its etcd runs: it has never started in that log, and a volume claim of its pod is older than the same
// claim of each member that answers. Any claim is evidence: another one may have been created again, as that of a backup.
// A restore that keeps old data also begins a new log on volumes of different ages, and so is no evidence. Unlike
// Predates, this doesn't prove that there is data on the volume.
func (s Survey) OlderVolume(l Listed, pod string, v Volumes) bool {
	return s.MayPredate(l, pod) && slices.ContainsFunc(v.Claims[pod], func(c *corev1.PersistentVolumeClaim) bool {
		return s.olderClaim(c, pod, v)
	})
}

// olderClaim reports whether a pod has a claim for longer than each member that answers has its own. It returns false if
// the claim has no volume, or is being deleted: then a user needs its data no more.
func (s Survey) olderClaim(c *corev1.PersistentVolumeClaim, pod string, v Volumes) bool {
	own := c.CreationTimestamp.Time
	if c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimBound || own.IsZero() {
		return false
	}
	var first time.Time
	for _, m := range s.Members {
		if m.Err != nil {
			continue
		}
		same := v.sameClaim(c, pod, m.Pod)
		if same == nil || same.CreationTimestamp.Sub(own) < RanLonger {
			return false
		}
		if at := same.CreationTimestamp.Time; first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return !first.IsZero() && !slices.ContainsFunc(v.Restores, func(at time.Time) bool {
		return !at.Before(own) && first.Sub(at) < owner.RestoreTime
	})
}

// sameClaim returns the claim of another pod that is of the same template, nil for none. If both pods have only one
// claim, the templates may have different names.
func (v Volumes) sameClaim(c *corev1.PersistentVolumeClaim, pod, other string) *corev1.PersistentVolumeClaim {
	claims := v.Claims[other]
	if len(claims) == 1 && len(v.Claims[pod]) == 1 {
		return claims[0]
	}
	name := strings.TrimSuffix(c.Name, pod) + other
	if at := slices.IndexFunc(claims, func(o *corev1.PersistentVolumeClaim) bool { return o.Name == name }); at >= 0 {
		return claims[at]
	}
	return nil
}

// VolumesOf reads the volumes of the members that answer and of a pod, if the voter of the list that it runs may have
// data from before the log of the others. The error reports what can't be read, and then the result is no evidence.
func (s Survey) VolumesOf(ctx context.Context, r *observe.Reader, o owner.Owner, l Listed, pod string) (Volumes, error) {
	if !s.MayPredate(l, pod) {
		return Volumes{}, nil
	}
	pods := []string{pod}
	for _, m := range s.Members {
		if m.Err == nil {
			pods = append(pods, m.Pod)
		}
	}
	claims, err := r.MemberClaims(ctx, o, pods...)
	if err != nil {
		return Volumes{}, err
	}
	if running, err := r.MemberPods(ctx, o); err == nil { // without them, any claim may have the data
		claims = withData(claims, running)
	}
	return Volumes{Claims: claims, Restores: o.RestoredAt()}, nil
}

// withData returns the claims of the templates with the data of a member, as any of the pods shows them. It returns all
// if none does.
func withData(claims map[string][]*corev1.PersistentVolumeClaim, pods []*corev1.Pod) map[string][]*corev1.PersistentVolumeClaim {
	templates := map[string]bool{}
	for _, p := range pods {
		volumes, kept := etcdconf.DataVolumes(p)
		for _, v := range volumes {
			if kept && v.PersistentVolumeClaim != nil {
				templates[strings.TrimSuffix(v.PersistentVolumeClaim.ClaimName, p.Name)] = true
			}
		}
	}
	if len(templates) == 0 {
		return claims
	}
	out := map[string][]*corev1.PersistentVolumeClaim{}
	for pod, all := range claims {
		out[pod] = slices.DeleteFunc(slices.Clone(all), func(c *corev1.PersistentVolumeClaim) bool {
			return !templates[strings.TrimSuffix(c.Name, pod)]
		})
	}
	return out
}
