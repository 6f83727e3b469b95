// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// ChooseMembers returns the members that can provide the snapshot, the best one first. If the user
// chose a pod, it returns that member, regardless of its health.
func ChooseMembers(ctx context.Context, o owner.Owner, members *etcd.Cluster, pod string, warnf func(format string, args ...any)) ([]etcd.Member, error) {
	survey, err := members.Survey(ctx)
	split, isSplit := errors.AsType[*etcd.SplitBrainError](err)
	if err != nil && !isSplit {
		return nil, err
	}
	if isSplit && pod == "" {
		return nil, &operate.RefusedError{What: fmt.Sprintf("save a snapshot of %s", o), Why: []string{split.Error() + ". Each has its own data: choose a member with --member"}}
	}
	return choose(o, survey.Members, pod, warnf)
}

func choose(o owner.Owner, members []etcd.Member, pod string, warnf func(format string, args ...any)) ([]etcd.Member, error) {
	if pod != "" {
		i := slices.IndexFunc(members, func(m etcd.Member) bool { return m.Pod == pod })
		if i < 0 {
			return nil, fmt.Errorf("%s has no member with the pod %q: it has %s", o, pod, strings.Join(podsOf(members), ", "))
		}
		warnAboutMember(members[i], members, warnf)
		return members[i : i+1], nil
	}
	order := etcd.SnapshotOrder(members)
	if len(order) == 0 {
		return nil, &UnusableError{fmt.Sprintf("%s has no member that can provide a snapshot: %s", o, whyUnusable(members))}
	}
	if order[0].LeaderID == 0 {
		warnf("%s has no leader. The snapshot contains what %s has applied, up to revision %d. Other members may have applied more.", order[0].Pod, order[0].Pod, order[0].Revision)
	}
	return order, nil
}

// UnusableError means that no member can provide a snapshot.
type UnusableError struct{ message string }

func (e *UnusableError) Error() string { return e.message }

// warnAboutMember warns about problems of the member that the user chose.
func warnAboutMember(m etcd.Member, all []etcd.Member, warnf func(format string, args ...any)) {
	newest := int64(0)
	for _, other := range all {
		newest = max(newest, other.Revision)
	}
	switch {
	case m.Err != nil:
		warnf("%s: %s.", m.Pod, etcd.Reason(m.Err))
	case slices.Contains(m.Alarms, "CORRUPT"):
		warnf("%s has raised CORRUPT: its data differs from that of the other members.", m.Pod)
	case m.Learner:
		warnf("%s is a learner, at revision %d of %d.", m.Pod, m.Revision, newest)
	case m.LeaderID == 0:
		warnf("%s has no leader. The snapshot contains what it has applied, up to revision %d.", m.Pod, m.Revision)
	}
}

func podsOf(members []etcd.Member) []string {
	pods := make([]string, len(members))
	for i := range members {
		pods[i] = members[i].Pod
	}
	return pods
}

// whyUnusable returns the reason for each member why it can't provide a snapshot.
func whyUnusable(members []etcd.Member) string {
	var reasons []string
	for _, m := range members {
		switch {
		case m.Err != nil:
			reasons = append(reasons, m.Pod+": "+etcd.Reason(m.Err))
		case m.Learner:
			reasons = append(reasons, m.Pod+" is a learner")
		default:
			reasons = append(reasons, m.Pod+" has raised "+strings.Join(m.Alarms, ", "))
		}
	}
	if len(reasons) == 0 {
		return "none of its pods exists"
	}
	return strings.Join(reasons, "; ")
}
