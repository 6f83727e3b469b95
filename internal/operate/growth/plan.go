// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/growth"
)

// Judge returns the plan, or a *RefusedError with all refusals. It also plans the rest of what an earlier
// command has begun.
func (j *Job) Judge(ctx context.Context) (operate.Plan, error) {
	f := &operate.Findings{}
	if j.checkOwner(f); len(f.Refusals) > 0 {
		return operate.Plan{}, f.Refused(j.Title())
	}
	s, err := j.observe(ctx)
	if err != nil {
		return operate.Plan{}, err
	}
	j.checkClaims(s, f)
	if err := f.Refused(j.Title()); err != nil {
		return operate.Plan{}, err
	}
	j.Describe(s.members, f)
	for _, c := range s.Claims {
		f.Fact("%s: claim %s requests %s, its volume has %s", c.Pod, c.Name, bytes(c.Request), bytes(c.Capacity))
	}
	step, waits := rules.Next(s.Facts), []operate.Passing(nil)
	switch {
	case step.Kind == rules.Done:
		return operate.Plan{Already: fmt.Sprintf("Every volume of %s has %s already.", j.Owner, j.Size.String())}, nil
	case step.Kind == rules.Stopped, step.Kind == rules.Blocked && !rules.Begun(s.Facts):
		f.Refuse("%s", step.Message)
	case step.Kind == rules.Blocked:
		waits = append(waits, operate.Passingf("The command has to wait first: %s.", step.Message))
	default:
		f.Fact("%s", step.Message)
	}
	if err := f.Refused(j.Title()); err != nil {
		return operate.Plan{}, err
	}
	p := j.plan(s, f)
	p.Passing = waits
	return p, nil
}

// checkClaims refuses claims that can't grow. The last one of each reason has the way out.
func (j *Job) checkClaims(s *state, f *operate.Findings) {
	var refused []policy.Verdict
	for _, c := range s.Claims {
		if v := rules.MayGrow(c, s.Size); !v.Allowed {
			refused = append(refused, v)
		}
	}
	for i, v := range refused {
		if i+1 < len(refused) && refused[i+1].Reason == v.Reason {
			f.Refuse("%s", v.Message)
			continue
		}
		f.Refuse("%s; %s", v.Message, j.way(v.Reason))
	}
	if len(s.Claims) == 0 {
		f.Refuse("it has no pods, so its volume claims are not known")
	}
}

// way returns the cure of a reason for this cluster, as the end of a refusal.
func (j *Job) way(r policy.Reason) string {
	cure := strings.ReplaceAll(strings.TrimSuffix(r.Cure(), "."), "NAME", fmt.Sprintf("%s -n %s", j.Owner.Target(), j.Owner.Namespace))
	return strings.ToLower(cure[:1]) + cure[1:]
}

func (j *Job) plan(s *state, f *operate.Findings) operate.Plan {
	p := operate.Plan{Title: j.Title(), Facts: f.Facts, Subject: strings.Join(rules.Order(s.Facts), " ")}
	for _, c := range s.Claims {
		if c.Request >= s.Size && !c.Grown(s.Size) {
			p.Steps = append(p.Steps, fmt.Sprintf("wait until the volume of %s has %s", c.Pod, j.Size.String()))
		}
	}
	for _, pod := range rules.Order(s.Facts) {
		p.Steps = append(p.Steps, fmt.Sprintf("request %s in claim %s of %s, and wait until its volume has that", j.Size.String(), j.claims[pod].claim, pod))
	}
	p.Warnings = append(f.Warnings, "A member whose file system can't grow while it is mounted is restarted by the eviction of its pod.", "Volumes never shrink.")
	return p
}

// bytes returns a size as in a claim: "10Gi".
func bytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }

// DryRun has the API server try the requests of all claims.
func (j *Job) DryRun(ctx context.Context) error {
	s, err := j.observe(ctx)
	if err != nil {
		return err
	}
	for _, pod := range rules.Order(s.Facts) {
		if err := j.request(ctx, s.claims[pod], true); err != nil {
			return err
		}
	}
	return nil
}
