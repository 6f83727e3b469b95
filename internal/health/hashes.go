// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

func hashes(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	h := f.Hashes.Value
	switch {
	case f.Hashes.Err != nil:
		return []Finding{unknown("the hashes", f.Hashes.Err)}
	case h.Skipped != "":
		return []Finding{{Level: Info, Message: h.Skipped, Fix: h.Fix}}
	}
	groups, left := h.Groups()
	var found []Finding
	for _, m := range left {
		if m.Err != nil {
			found = append(found, unknown("the hash of "+m.Pod, m.Err))
			continue
		}
		found = append(found, Finding{Level: Unknown, Message: fmt.Sprintf("%s has compacted up to %d, another up to %d: hashes of different histories can't be compared", m.Pod, m.CompactRevision, m.Other), Fix: f.Command("check", "--only D004")})
	}
	switch {
	case len(groups) > 1:
		return append(found, f.corrupt(h, groups))
	case len(found) > 0:
		return found
	}
	return ok("%s at revision %d", policy.Plural(len(h.Members), "voter", "voters"), h.Revision)
}

// corrupt names the voters that differ, and which of them most agree with.
func (f *Facts) corrupt(h Hashes, groups [][]etcd.Hash) Finding {
	slices.SortStableFunc(groups, func(a, b []etcd.Hash) int { return len(b) - len(a) })
	var parts []string
	for _, group := range groups {
		parts = append(parts, fmt.Sprintf("%s %08x", policy.List(podsOf(group)), group[0].Hash))
	}
	what := fmt.Sprintf("data differs at revision %d: %s", h.Revision, strings.Join(parts, "; "))
	if 2*len(groups[0]) <= len(h.Members) {
		return failure(f.Command("snapshot save"), "%s; no hash has a majority of the voters", what)
	}
	odd := groups[1][0].Pod
	if most := podsOf(groups[0]); maintenance.OldestVolume(odd, most, f.volumeSince) {
		return failure(f.Command("snapshot save", "--member", odd), "%s; %s differs from the majority, and its volume is older than those of %s, which may have started again without its data. Save its data first. Then, member replace needs --force",
			what, odd, policy.List(most))
	}
	return failure(f.replace(odd, f.forced()...), "%s; %s differs from the majority", what, odd)
}

// podsOf returns the pods of hashes.
func podsOf(group []etcd.Hash) (pods []string) {
	for _, m := range group {
		pods = append(pods, m.Pod)
	}
	return pods
}

// volumeSince returns when the newest volume claim of a pod was created, and false where none is known.
func (f *Facts) volumeSince(pod string) (time.Time, bool) {
	return owner.VolumeSince(f.claimsOf(pod))
}

// claimsOf returns the volume claims of a pod of a StatefulSet.
func (f *Facts) claimsOf(pod string) (claims []*corev1.PersistentVolumeClaim) {
	for i := range f.Claims.Value {
		if c := &f.Claims.Value[i]; strings.HasSuffix(c.Name, "-"+pod) {
			claims = append(claims, c)
		}
	}
	return claims
}

// dataClaimsOf returns the volume claims with a member's data, or all of the pod's where it is not known which have that,
// also without claim templates.
func (f *Facts) dataClaimsOf(pod string) []*corev1.PersistentVolumeClaim {
	if len(f.Owner.ClaimsOf(max(f.Owner.Ordinal(pod), 0))) == 0 {
		return f.claimsOf(pod)
	}
	templates, _ := f.dataClaims(pod, f.pod(pod))
	return slices.DeleteFunc(f.claimsOf(pod), func(c *corev1.PersistentVolumeClaim) bool {
		return !slices.ContainsFunc(templates, func(of owner.Claim) bool { return of.Template+"-"+pod == c.Name })
	})
}

// forced returns the flag without which member replace takes a member for healthy, although its data differ:
// it compares no database above maintenance.HashLimit unless etcd has raised CORRUPT.
func (f *Facts) forced() []string {
	s := f.Survey.Value
	corrupt := slices.Contains(s.StrayTypes(), maintenance.Corrupt) ||
		slices.ContainsFunc(s.Members, func(m etcd.Member) bool { return slices.Contains(m.Alarms, maintenance.Corrupt) })
	if corrupt || !slices.ContainsFunc(s.Members, func(m etcd.Member) bool { return m.DBSize > maintenance.HashLimit }) {
		return nil
	}
	return []string{"--force"}
}
