// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// SurveyQuorum surveys a cluster and fails with a *RefusedError where it has no quorum.
func SurveyQuorum(ctx context.Context, c *etcd.Cluster, o owner.Owner, what string) (etcd.Survey, error) {
	s, err := c.Survey(ctx)
	if err != nil {
		return s, err
	}
	if s.ListErr != nil {
		return s, &operate.RefusedError{What: what, Why: []string{NoQuorum(s, o)}}
	}
	return s, nil
}

// NoQuorum returns why there is no quorum, with the numbers that are known. Members that this user may
// not reach may be up or down.
func NoQuorum(s etcd.Survey, o owner.Owner) string {
	healthy := 0
	var down []string
	for _, m := range s.Members {
		switch {
		case etcd.Barred(m.Err):
			return fmt.Sprintf("%s does not report its member list: %s", m.Pod, etcd.Reason(m.Err))
		case s.Healthy(m):
			healthy++
		default:
			down = append(down, m.Pod)
		}
	}
	if len(down) == 0 {
		return "etcd has no pod that runs a member, so it has no quorum: bring the members back first. " + o.Command("status") + " shows how"
	}
	return fmt.Sprintf("etcd has no quorum: %d of %s healthy (not %s), quorum is %d: bring a member back first. %s shows which, and how",
		healthy, policy.Count(len(s.Members), "member"), strings.Join(down, ", "), policy.Quorum(len(s.Members)), o.Command("status"))
}
