// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// MemberVolumes shows since when members have their data. What could not be read is no evidence.
type MemberVolumes struct {
	// Claims are the volume claims of each pod that have its data, or all where it is not known which.
	Claims map[string][]*corev1.PersistentVolumeClaim
	// Restores are when restores of the cluster began that keep the old data.
	Restores []time.Time
}

// MemberVolumes reads the volumes of pods of a StatefulSet of the owner.
func (r *Reader) MemberVolumes(ctx context.Context, o owner.Owner, pods ...string) (MemberVolumes, error) {
	claims, err := r.MemberClaims(ctx, o, pods...)
	if err != nil {
		return MemberVolumes{}, err
	}
	if running, err := r.MemberPods(ctx, o); err == nil { // without them, any claim may have the data
		claims = withData(claims, running)
	}
	return MemberVolumes{Claims: claims, Restores: o.RestoredAt()}, nil
}

// Older reports whether a volume claim of a pod is older than the same claim of each of the others, so that its member may
// have data from before their log began. Any claim is evidence: another one may have been created again, as that of a
// backup. A restore that keeps old data also begins a new log on volumes of different ages, and so is no evidence.
func (v MemberVolumes) Older(pod string, others []string) bool {
	return slices.ContainsFunc(v.Claims[pod], func(c *corev1.PersistentVolumeClaim) bool { return v.older(c, pod, others) })
}

// older reports whether a pod has a claim for longer than each of the others has its own. It returns false if the claim
// has no volume, or is being deleted: then a user needs its data no more.
func (v MemberVolumes) older(c *corev1.PersistentVolumeClaim, pod string, others []string) bool {
	own := c.CreationTimestamp.Time
	if c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimBound || own.IsZero() {
		return false
	}
	var first time.Time
	for _, other := range others {
		same := v.same(c, pod, other)
		if same == nil || same.CreationTimestamp.Sub(own) < owner.RanLonger {
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

// same returns the claim of another pod that is of the same template, nil for none. If both pods have only one
// claim, the templates may have different names.
func (v MemberVolumes) same(c *corev1.PersistentVolumeClaim, pod, other string) *corev1.PersistentVolumeClaim {
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
