// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// follow is the time limit for the budget to change after a cut. A lease lasts three heartbeats,
// and the controller needs some more time.
const follow = 40 * time.Second

// cutNode isolates one member's node from the network and connects it again.
func cutNode(ctx context.Context, w *World) error {
	if _, err := w.awaitBudget(ctx, w.main, 2, policy.AllReady.Name()); err != nil {
		return err
	}
	var sick, other clusters.Member
	err := clusters.Await(ctx, limit, "the choice of a member to isolate", func(ctx context.Context) (seen string, done bool, err error) {
		sick, other, err = w.chooseVictim(ctx, w.main)
		return "", err == nil, err
	})
	if err != nil {
		return err
	}
	w.Do("take %s off the network: %s runs there", sick.Node, sick.Pod.Name)
	if err := w.Testbed.CutNode(ctx, sick.Node); err != nil {
		return err
	}
	if err := w.whileCut(ctx, sick, other); err != nil {
		_ = w.Testbed.HealNode(context.WithoutCancel(ctx), sick.Node) // the first error explains more
		return err
	}
	w.Do("bring %s back", sick.Node)
	if err := w.Testbed.HealNode(ctx, sick.Node); err != nil {
		return err
	}
	if err := awaitReady(ctx, w.main); err != nil {
		return err
	}
	if _, err := w.awaitBudget(ctx, w.main, 2, policy.AllReady.Name()); err != nil {
		return err
	}
	w.Good("%s: every member ready again, minAvailable 2", w.main)
	return nil
}

func (w *World) whileCut(ctx context.Context, sick, other clusters.Member) error {
	took, err := w.awaitBudget(ctx, w.main, 3)
	if err != nil {
		return err
	}
	if took > follow && w.Disturb == nil {
		return fmt.Errorf("minAvailable of %s followed after %s, not within %s", w.main, took, follow)
	}
	w.Good("minAvailable 3 after %s, because the lease of %s stopped being renewed", took.Round(time.Second), sick.Pod.Name)
	if err := w.disturb(ctx, "cut"); err != nil {
		return err
	}
	start := time.Now().Add(-took) //nolint:forbidigo // it measures what a person would wait
	if err := w.main.AwaitCondition(ctx, limit, clusters.AllMembersReady, "False"); err != nil {
		return err
	}
	condition, _, err := w.main.Condition(ctx, clusters.AllMembersReady)
	if err != nil {
		return err
	}
	w.Report("druid's AllMembersReady=False after %s: %s: %s", time.Since(start).Round(time.Second), condition.Reason, condition.Message)
	if _, err := w.awaitBudget(ctx, w.main, 2, policy.MemberDown.Name()); err != nil {
		return err
	}
	if err := w.drainWaits(ctx, w.main, other.Node); err != nil {
		return err
	}
	w.Do("evict %s, the member that is down", sick.Pod.Name)
	err = clusters.Await(ctx, limit, fmt.Sprintf("pod %s of the member that is down to go", sick.Pod.Name), func(ctx context.Context) (string, bool, error) {
		// The disruption controller may not have evaluated the new budget yet.
		status, err := w.main.Evict(ctx, sick.Pod.Name)
		return status.Message, status.Status == metav1.StatusSuccess, err
	})
	if err != nil {
		return err
	}
	w.Good("the unhealthy member's pod may go")
	return nil
}

// chooseVictim returns the member with the node that the story needs least, and another member.
func (w *World) chooseVictim(ctx context.Context, c *clusters.Cluster) (sick, other clusters.Member, err error) {
	members, err := c.Members(ctx)
	if err != nil {
		return sick, other, err
	}
	cost, err := w.costOfLosing(ctx)
	if err != nil {
		return sick, other, err
	}
	slices.SortStableFunc(members, func(a, b clusters.Member) int { return cost[a.Node] - cost[b.Node] })
	return members[0], members[1], nil
}
