// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// PlanAdd returns the plan to add a learner, and the survey on which it is based. The error is a
// *RefusedError if it must not be added.
func PlanAdd(ctx context.Context, c *etcd.Cluster, o owner.Owner, peerURLs []string) (etcd.Survey, operate.Plan, error) {
	if err := unmanaged(o, "add a member to "+o.String()); err != nil {
		return etcd.Survey{}, operate.Plan{}, err
	}
	s, err := SurveyQuorum(ctx, c, o, "add a member")
	if err != nil {
		return s, operate.Plan{}, err
	}
	for _, u := range peerURLs {
		for _, l := range s.List {
			if slices.Contains(l.PeerURLs, u) {
				return s, operate.Plan{}, &operate.RefusedError{What: "add a member at " + u, Why: []string{fmt.Sprintf("member %s already has this peer URL", l.NameAndID())}}
			}
		}
	}
	if v := membership.MayAdd(Peers(o, s)); !v.Allowed {
		return s, operate.Plan{}, &operate.RefusedError{What: "add a member to " + o.String(), Why: []string{v.Message}}
	}
	voters := len(s.List)
	return s, operate.Plan{
		Title: "add a learner at " + strings.Join(peerURLs, ","), Subject: subject(s),
		Facts: []string{fmt.Sprintf("%d voters, all healthy, quorum is %d. With the vote of the new member, it is %d of %d", voters, policy.Quorum(voters), policy.Quorum(voters+1), voters+1)},
		Steps: []string{"add it to etcd's member list as a learner"},
	}, nil
}
