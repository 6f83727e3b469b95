// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// cuts are what cuts client traffic: the value of each Service's selector by the Service's name, and whether the operator
// is suspended for the cut.
type cuts struct {
	services  map[string]string
	suspended bool
}

// cuts returns the cuts that were last read.
func (c *Cluster) cuts() cuts {
	found := cuts{services: map[string]string{}, suspended: c.suspendedByCut()}
	for i := range c.Services.Chosen {
		s := &c.Services.Chosen[i]
		found.services[s.Name] = s.Spec.Selector[v1alpha1.ClientTrafficKey]
	}
	return found
}

// has reports whether others are among these cuts.
func (k cuts) has(others cuts) bool {
	for name, value := range others.services {
		if shown, ok := k.services[name]; !ok || shown != value {
			return false
		}
	}
	return k.suspended || !others.suspended
}

// JudgeRestore finds the Services that are cut and returns the plan to restore them, or to remove the record of a cut that has
// ended. The first plan is empty if there is neither. A later one is the same while there is no other cut: to restore what
// is restored does nothing. A cut that another user has made since is not ended with the others.
func (c *Cluster) JudgeRestore(ctx context.Context) (operate.Plan, error) {
	if err := c.findCut(ctx); err != nil || c.NothingToRestore() && c.Record == nil && c.toRestore == nil {
		return operate.Plan{}, err
	}
	now := c.cuts()
	if c.toRestore != nil && c.cutsShown.has(now) {
		again := *c.toRestore
		again.Needs = c.restoreNeeds()
		return again, nil
	}
	p := c.restorePlan()
	if c.toRestore == nil {
		c.toRestore, c.cutsShown = &p, now
	}
	return p, nil
}

// restorePlan describes what a restore of the cuts will do.
func (c *Cluster) restorePlan() operate.Plan {
	now := c.cuts()
	if c.NothingToRestore() {
		return operate.Plan{
			Title: fmt.Sprintf("remove the record of a cut of %s that has ended", c.Owner), Needs: c.restoreNeeds(),
			Facts: []string{"client traffic is not cut", "the last cut was" + strings.TrimPrefix(c.whoCut(), ",")},
			Steps: []string{"remove the record of the cut from lease " + lock.Name(c.Owner)},
		}
	}
	p := operate.Plan{
		Title: fmt.Sprintf("restore client traffic of %s", c.Owner), Needs: c.restoreNeeds(),
		Subject: fmt.Sprint(now.services, now.suspended),
	}
	if until, cut := c.cutUntil(); cut {
		p.Facts = append(p.Facts, fmt.Sprintf("client traffic is cut until %s%s", format.Time(until), c.whoCut()))
	}
	if len(c.Services.Chosen) > 0 {
		p.Steps = append(p.Steps, fmt.Sprintf("remove the key of the cut from the selector of Service %s", c.list()))
	}
	if c.suspendedByCut() {
		p.Steps = append(p.Steps, "resume "+c.Membership().ManagerName+"'s reconciliation, which was suspended for the cut")
	}
	return p
}

func (c *Cluster) suspendedByCut() bool { return c.suspends() && SuspendedByCut(c.Owner) }

// NothingToRestore reports whether neither a Service is cut nor the operator is suspended for
// a cut.
func (c *Cluster) NothingToRestore() bool { return len(c.Services.Chosen) == 0 && !c.suspendedByCut() }
