// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/etcdlog"
)

// dataLost reports whether a member's data is lost, and the evidence for or against it. The volume
// itself can't be read from outside.
func (m *Members) dataLost(ctx context.Context, s *observation, pod string) (gone bool, why string, err error) {
	for _, member := range s.survey.Members {
		// It answers with another ID than the list has for this pod.
		if member.Pod == pod && member.Err != nil && member.ID != 0 {
			return true, strings.TrimPrefix(member.Err.Error(), "member "+pod+": "), nil
		}
	}
	wanted, known := m.dataClaims(s, pod)
	if len(wanted) == 0 {
		return m.lostWithoutClaim(ctx, s, pod)
	}
	missing := ""
	var bound []*corev1.PersistentVolumeClaim
	for _, c := range wanted {
		name := c.Template + "-" + pod
		i := slices.IndexFunc(s.claims[pod], func(c *corev1.PersistentVolumeClaim) bool { return c.Name == name })
		switch {
		case i < 0:
			missing = cmp.Or(missing, "it has no volume claim "+name)
		case s.claims[pod][i].DeletionTimestamp != nil, s.claims[pod][i].Status.Phase != corev1.ClaimBound:
			missing = cmp.Or(missing, fmt.Sprintf("its volume claim %s is %s", name, phase(s.claims[pod][i])))
		default:
			bound = append(bound, s.claims[pod][i])
		}
	}
	if missing != "" && known {
		return true, missing, nil
	}
	message, err := m.terminationLog(ctx, s, pod)
	if err != nil {
		return false, "", err
	}
	if message != "" {
		return true, "its log ends with: " + message, nil
	}
	switch {
	case missing != "":
		return false, missing + ", and it is not known which of its claims has its data", nil
	case !known:
		return false, "it is not known which directory its data is in", nil
	}
	return false, fmt.Sprintf("volume claim %s has been bound since %s", bound[0].Name, format.Time(bound[0].CreationTimestamp.Time)), nil
}

// dataClaims returns the claim templates with a member's data, or all of them and false: see [owner.Owner.DataClaims].
func (m *Members) dataClaims(s *observation, pod string) (claims []owner.Claim, known bool) {
	at := m.Owner.Ordinal(pod)
	if at < 0 || at >= len(s.configs) {
		claims = slices.Clone(m.Owner.ClaimsOf(max(at, 0)))
		return claims, len(claims) == 1
	}
	return m.Owner.DataClaims(at, s.configs[at], &s.template.template.Spec)
}

// dataClaimsOf returns the volume claims with a member's data, or all of the pod's where it is not known which have that.
func (m *Members) dataClaimsOf(s *observation, pod string) []*corev1.PersistentVolumeClaim {
	wanted, _ := m.dataClaims(s, pod)
	return slices.DeleteFunc(slices.Clone(s.claims[pod]), func(c *corev1.PersistentVolumeClaim) bool {
		return !slices.ContainsFunc(wanted, func(of owner.Claim) bool { return of.Template+"-"+pod == c.Name })
	})
}

// lostWithoutClaim reports whether the data of a member without volume claims of its own is lost.
// An emptyDir lives as long as its pod, a hostPath or another volume longer. The file system of a
// container is lost when that is started again.
func (m *Members) lostWithoutClaim(ctx context.Context, s *observation, pod string) (gone bool, why string, err error) {
	volume, known := s.dataVolume(m.Owner.Ordinal(pod))
	switch {
	case !known:
	case volume == nil && s.pods[pod] == nil:
		return true, "its data was on no volume, but in a pod that is gone", nil
	case volume == nil && restarts(s.pods[pod], s.configs[m.Owner.Ordinal(pod)].Container) > 0:
		return true, "its data is on no volume, and its container was started again", nil
	case volume != nil && volume.EmptyDir != nil && s.pods[pod] == nil:
		return true, "its data was in emptyDir " + volume.Name + " of a pod that is gone", nil
	}
	message, err := m.terminationLog(ctx, s, pod)
	if err != nil {
		return false, "", err
	}
	if message != "" {
		return true, "its log ends with: " + message, nil
	}
	if !known {
		return false, "it is not known which directory its data is in", nil
	}
	if volume == nil {
		return false, "its data is on no volume, and its container was not started again", nil
	}
	return false, "its data is in volume " + volume.Name + " of its pod", nil
}

// restarts returns how often a container was started again in its pod.
func restarts(pod *corev1.Pod, container string) int32 {
	for _, c := range containers.Statuses(pod) {
		if c.Name == container {
			return c.RestartCount
		}
	}
	return 0
}

// dataVolume returns the volume of an ordinal's data directory, nil where it is on none. It returns
// false where the directory, or its volume, is not known.
func (s *observation) dataVolume(ordinal int) (*corev1.Volume, bool) {
	if ordinal < 0 || ordinal >= len(s.configs) {
		return nil, false
	}
	mount, known := s.configs[ordinal].DataMount(&s.template.template.Spec)
	if mount == nil {
		return nil, known
	}
	volumes := s.template.template.Spec.Volumes
	if i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }); i >= 0 {
		return &volumes[i], true
	}
	return nil, false
}

func phase(c *corev1.PersistentVolumeClaim) string {
	if c.DeletionTimestamp != nil {
		return "being deleted"
	}
	return string(c.Status.Phase)
}

// terminationLog returns the fatal message in a container's log, empty for none.
func (m *Members) terminationLog(ctx context.Context, s *observation, pod string) (string, error) {
	if s.pods[pod] == nil || m.Logs == nil {
		return "", nil
	}
	container := s.container
	if at := m.Owner.Ordinal(pod); at >= 0 && at < len(s.configs) {
		container = s.configs[at].Container
	}
	end, err := etcdlog.ReadEnd(ctx, m.Logs, s.pods[pod], container, m.Clock.Now())
	return end.Evidence(), err
}
