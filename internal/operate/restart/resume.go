// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// PlanResume returns the plan of a restart that was interrupted. With abort it is the plan to end
// it.
func (j *Job) PlanResume(ctx context.Context, r *Record, abort bool) (operate.Plan, error) {
	p := operate.Plan{
		Title: "continue: " + j.what(r),
		Facts: []string{"begun " + format.Time(r.journal.Began)},
	}
	if r.journal.By != "" {
		p.Facts[0] += " by " + r.journal.By
	}
	if r.Strategy == Coordinated {
		p.Needs = j.coordinatedNeeds(r.Together.Services)
	}
	if abort {
		p.Title, p.Steps = "end: "+j.what(r), []string{"restart no other member"}
	}
	s, err := j.observe(ctx, r)
	if err != nil {
		p.Passing = append(p.Passing, operate.Passingf("The cluster can't be read now: %v.", err))
		return p, nil
	}
	if err := s.owns(r); err != nil { // what its members did is not known: the mark was in the old StatefulSet
		return p, operate.Refuse("%s", err)
	}
	var done []string
	for _, m := range s.Members {
		if m.Recorded && m.New {
			done = append(done, m.Pod)
		}
	}
	if len(done) > 0 {
		p.Facts = append(p.Facts, "restarted already: "+strings.Join(done, ", "))
	}
	if r.Strategy == Coordinated {
		return j.planCoordinatedAgain(ctx, s, r, p)
	}
	step := rules.Next(s.Facts)
	p.Facts = append(p.Facts, step.Message)
	if !abort {
		p.Steps = rollingSteps(s)
	}
	return p, nil
}

// Needs returns the permissions that a restart uses.
func (j *Job) Needs() []operate.Need {
	o := j.Owner
	need := operate.NeedIn(o.Namespace)
	kept := journal.Name(o)
	needs := []operate.Need{
		need("get", "", "configmaps", "", kept), need("create", "", "configmaps", "", ""),
		need("patch", "", "configmaps", "", kept), need("delete", "", "configmaps", "", kept),
		need("list", "", "pods", "", ""), need("create", "", "pods", "eviction", ""), need("create", "", "pods", "portforward", ""),
		need("get", "", "persistentvolumeclaims", "", ""),
		need("list", "", "services", "", ""), need("list", "policy", "poddisruptionbudgets", "", ""),
	}
	for _, name := range setNames(o) {
		needs = append(needs, need("get", "apps", "statefulsets", "", name))
	}
	return needs
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
