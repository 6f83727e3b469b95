// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Transfer is a transfer of leadership between the members of two pods.
type Transfer struct {
	Members *etcd.Cluster
	Clock   clock.Clock
	// Cluster is its name in messages.
	Cluster string
	// To is the pod of the new leader. Empty means the most advanced follower: then Judge
	// chooses it, once. From is the pod of the leader, which Judge finds.
	From, To string

	survey etcd.Survey
}

// Judge returns the plan, or a *RefusedError if the member must not become the leader.
func (t *Transfer) Judge(ctx context.Context) (operate.Plan, error) {
	var err error
	if t.survey, err = t.Members.Survey(ctx); err != nil {
		return operate.Plan{}, err
	}
	databases := Databases(t.survey)
	if err := t.choose(databases); err != nil {
		return operate.Plan{}, err
	}
	t.From = leaderOf(databases)
	if t.From == t.To {
		return operate.Plan{Already: fmt.Sprintf("%s is already the leader of %s.", t.To, t.Cluster)}, nil
	}
	return operate.Plan{
		Title: fmt.Sprintf("move the leadership of %s from %s to %s", t.Cluster, t.From, t.To),
		Facts: Facts(databases),
		Steps: []string{fmt.Sprintf("transfer leadership from %s to %s; writes wait for the election", t.From, t.To)},
	}, nil
}

// choose chooses the new leader, or judges the one that the user chose.
func (t *Transfer) choose(databases []maintenance.Database) error {
	if t.To != "" {
		if v := maintenance.MayLead(databases, t.To); !v.Allowed {
			return operate.Refuse("%s can't become the leader of %s: %s", t.To, t.Cluster, v.Message)
		}
		return nil
	}
	if len(databases) == 1 {
		return operate.Refuse("%s has only one member, which must stay the leader", t.Cluster)
	}
	to, ok := maintenance.Successor(databases)
	if ok {
		t.To = to
		return nil
	}
	for _, d := range databases {
		if v := maintenance.MayLead(databases, d.Pod); !d.Leader && !v.Allowed {
			return operate.Refuse("no other member can become the leader of %s: %s", t.Cluster, v.Message)
		}
	}
	return operate.Refuse("no other member can lead %s", t.Cluster)
}

// leaderOf returns the pod of the leader, or "none".
func leaderOf(databases []maintenance.Database) string {
	leader := ""
	for _, d := range databases {
		if d.Leader && d.Trouble == "" {
			leader = d.Pod
		}
	}
	return cmp.Or(leader, "none")
}

// Run transfers the leadership by the last plan.
func (t *Transfer) Run(ctx context.Context, held func() error) error {
	if err := held(); err != nil {
		return err
	}
	return MoveLeader(ctx, t.Members, t.survey, t.To, t.Clock)
}
