// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// MayPredate reports whether a voter of the list doesn't answer and has never started in the log of those that answer.
// The volume of its pod then shows whether it may have data from before.
func (s Survey) MayPredate(l Listed, pod string) bool {
	answers := func(m Member) bool { return m.Pod == pod && (m.Err == nil || m.ID != 0) }
	return pod != "" && l.neverStarted() && !slices.ContainsFunc(s.Members, answers)
}

// OlderVolume reports whether a voter that doesn't answer may have data from before the log of those that answer,
// whether or not its etcd runs: it has never started in that log, and its volume is older than that of each member that
// answers. Unlike Predates, this doesn't prove that there is data on the volume.
func (s Survey) OlderVolume(l Listed, pod string, v observe.MemberVolumes) bool {
	return s.MayPredate(l, pod) && v.Older(pod, s.answering())
}

// answering returns the pods of the members that answer.
func (s Survey) answering() (pods []string) {
	for _, m := range s.Members {
		if m.Err == nil {
			pods = append(pods, m.Pod)
		}
	}
	return pods
}

// VolumesOf reads the volumes of the members that answer and of a pod, if the voter of the list that it runs may have
// data from before the log of the others. The error reports what can't be read, and then the result is no evidence.
func (s Survey) VolumesOf(ctx context.Context, r *observe.Reader, o owner.Owner, l Listed, pod string) (observe.MemberVolumes, error) {
	if !s.MayPredate(l, pod) {
		return observe.MemberVolumes{}, nil
	}
	return r.MemberVolumes(ctx, o, append(s.answering(), pod)...)
}
