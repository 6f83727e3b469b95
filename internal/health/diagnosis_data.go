// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// dataOf is what claims and logs show of a member's data.
func (f *Facts) dataOf(name string, pod *corev1.Pod) (recovery.Data, string) {
	if fatal := f.FatalLogs[name]; fatal != "" {
		return recovery.DataDamaged, "its log ends with: " + fatal
	}
	if len(f.Owner.Claims) == 0 {
		return f.dataWithoutClaim(pod)
	}
	if f.Claims.Err != nil {
		return recovery.DataUnread, ""
	}
	for _, c := range f.Owner.ClaimsOf(max(f.Owner.Ordinal(name), 0)) {
		want := c.Template + "-" + name
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
	}
	return recovery.DataValid, ""
}

// dataWithoutClaim is the data of a member whose volume is not from a claim template.
func (f *Facts) dataWithoutClaim(pod *corev1.Pod) (recovery.Data, string) {
	spec := &corev1.PodSpec{}
	switch {
	case pod != nil:
		spec = &pod.Spec
	case f.StatefulSet.Value != nil:
		spec = &f.StatefulSet.Value.Spec.Template.Spec
	}
	inPod, known := inPodOf(f.Serving, spec)
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
		if got.Err != nil || !etcdconf.IsKnownDir(got.Value.DataDir) {
			continue
		}
		i := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return c.Name == got.Value.Container })
		if i < 0 {
			continue
		}
		mount, _ := etcdconf.MountAt(&spec.Containers[i], got.Value.DataDir)
		return mount == nil || slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name && v.EmptyDir != nil }), true
	}
	return false, false
}
