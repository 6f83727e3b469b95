// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// dataOf returns what claims and logs show of a member's data.
func (f *Facts) dataOf(name string, pod *corev1.Pod) (recovery.Data, string) {
	if fatal := f.FatalLogs[name]; fatal != "" {
		return recovery.DataDamaged, "its log ends with: " + fatal
	}
	claims, known := f.dataClaims(name, pod)
	if len(claims) == 0 {
		return f.dataWithoutClaim(pod)
	}
	if f.Claims.Err != nil {
		return recovery.DataUnread, ""
	}
	for _, c := range claims {
		if data, why := f.dataIn(c.Template, name, pod); data != recovery.DataValid {
			if !known {
				return recovery.DataUnread, ""
			}
			return data, why
		}
	}
	return recovery.DataValid, ""
}

// dataIn returns what a claim of a member shows of the data in it.
func (f *Facts) dataIn(template, name string, pod *corev1.Pod) (recovery.Data, string) {
	want := template + "-" + name
	i := slices.IndexFunc(f.Claims.Value, func(c corev1.PersistentVolumeClaim) bool { return c.Name == want })
	switch {
	case i < 0:
		return recovery.DataNone, "there is no claim " + want
	case f.Claims.Value[i].DeletionTimestamp != nil && pod != nil: // the API server keeps it while the pod exists
		return recovery.DataLeaving, "claim " + want + " is being deleted"
	case f.Claims.Value[i].DeletionTimestamp != nil:
		return recovery.DataNone, "claim " + want + " is being deleted"
	case f.Claims.Value[i].Status.Phase != corev1.ClaimBound:
		return recovery.DataNone, fmt.Sprintf("claim %s is %s", want, f.Claims.Value[i].Status.Phase)
	}
	if f.ranBefore(name, f.Claims.Value[i]) {
		return recovery.DataNone, "claim " + want + " was created after the member had last renewed its lease"
	}
	return recovery.DataValid, ""
}

// ranBefore reports whether a member of etcd-druid ran before a claim was created, and not since then. Elsewhere no
// lease is the member's.
func (f *Facts) ranBefore(name string, claim corev1.PersistentVolumeClaim) bool {
	_, renewed := f.leaseState(f.memberPrefix() + name)
	return f.Etcd.Value != nil && !renewed.IsZero() && renewed.Before(claim.CreationTimestamp.Time)
}

// dataClaims returns the claim templates with a member's data. A volume for backups or certificates has
// none. If the configuration doesn't show which of several it is, it returns all of them, and false.
func (f *Facts) dataClaims(name string, pod *corev1.Pod) (claims []owner.Claim, known bool) {
	if f.Owner.IsBeside(name) { // no template made its claims
		return nil, true
	}
	at := max(f.Owner.Ordinal(name), 0)
	for _, of := range append([]string{name}, slices.Sorted(maps.Keys(f.Serving))...) {
		if got, read := f.Serving[of]; read && got.Err == nil {
			return f.Owner.DataClaims(at, got.Value, f.specOf(pod))
		}
	}
	claims = slices.Clone(f.Owner.ClaimsOf(at))
	return claims, len(claims) == 1
}

// specOf returns the spec of a pod, or of the one that its StatefulSet will create.
func (f *Facts) specOf(pod *corev1.Pod) *corev1.PodSpec {
	switch {
	case pod != nil:
		return &pod.Spec
	case f.StatefulSet.Value != nil:
		return &f.StatefulSet.Value.Spec.Template.Spec
	}
	return &corev1.PodSpec{}
}

// dataWithoutClaim returns the data of a member whose volume is not from a claim template.
func (f *Facts) dataWithoutClaim(pod *corev1.Pod) (recovery.Data, string) {
	inPod, known := inPodOf(f.Serving, f.specOf(pod))
	switch {
	case !known:
		return recovery.DataUnread, ""
	case inPod && pod == nil:
		return recovery.DataNone, "its data was in a pod that is gone"
	case inPod:
		return recovery.DataInPod, ""
	case pod == nil:
		return recovery.DataUnread, ""
	}
	return recovery.DataValid, ""
}

// inPodOf reports whether a pod's data directory is on no volume, or in an emptyDir. known is false
// where no member's configuration shows the directory.
func inPodOf(serving map[string]Got[etcdconf.Config], spec *corev1.PodSpec) (inPod, known bool) {
	for _, got := range serving {
		if got.Err != nil {
			continue
		}
		mount, known := got.Value.DataMount(spec)
		if !known {
			continue
		}
		return mount == nil || slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name && v.EmptyDir != nil }), true
	}
	return false, false
}
