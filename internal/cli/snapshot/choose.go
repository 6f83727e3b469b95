// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// checkNotDefragmenting returns an error if this plugin defragments the cluster.
func checkNotDefragmenting(ctx context.Context, a *app.App, c *app.Cluster) error {
	return lock.CheckHeld(ctx, c.Kube, c.Owner, []string{"defrag"}, func(h lock.Holder, watch time.Duration) { change.Watching(a, h, watch) })
}

// chooseMembers returns the members that can provide the snapshot, the best one first. If the user
// chose a pod, it returns that member, regardless of its health.
func chooseMembers(ctx context.Context, a *app.App, c *app.Cluster, pod string) ([]etcd.Member, error) {
	survey, err := c.Members.Survey(ctx)
	split, isSplit := errors.AsType[*etcd.SplitBrainError](err)
	if err != nil && !isSplit {
		return nil, err
	}
	if pod != "" {
		i := slices.IndexFunc(survey.Members, func(m etcd.Member) bool { return m.Pod == pod })
		if i < 0 {
			return nil, fmt.Errorf("%s has no member with the pod %q: it has %s", c.Owner, pod, strings.Join(podsOf(survey.Members), ", "))
		}
		warnAboutMember(a, survey.Members[i], survey.Members)
		return survey.Members[i : i+1], nil
	}
	if isSplit {
		return nil, app.Refused("%v. Each has its own data: choose a member with --member", split)
	}
	order := etcd.SnapshotOrder(survey.Members)
	if len(order) == 0 {
		return nil, app.Unhealthy("%s has no member that can provide a snapshot: %s", c.Owner, whyUnusable(survey.Members))
	}
	if order[0].LeaderID == 0 {
		a.Warn("%s has no leader. The snapshot contains what %s has applied, up to revision %d. Other members may have applied more.", order[0].Pod, order[0].Pod, order[0].Revision)
	}
	return order, nil
}

// warnAboutMember warns about problems of the member that the user chose.
func warnAboutMember(a *app.App, m etcd.Member, all []etcd.Member) {
	newest := int64(0)
	for _, other := range all {
		newest = max(newest, other.Revision)
	}
	switch {
	case m.Err != nil:
		a.Warn("%s: %s.", m.Pod, etcd.Reason(m.Err))
	case slices.Contains(m.Alarms, "CORRUPT"):
		a.Warn("%s has raised CORRUPT: its data differs from that of the other members.", m.Pod)
	case m.Learner:
		a.Warn("%s is a learner, at revision %d of %d.", m.Pod, m.Revision, newest)
	case m.LeaderID == 0:
		a.Warn("%s has no leader. The snapshot contains what it has applied, up to revision %d.", m.Pod, m.Revision)
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
