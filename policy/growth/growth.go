// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package growth is the rule about larger volumes: which volume claims can grow, which member's is next,
// and when a member restarts for it. Its table is docs/rules/growth.md.
//
// The rule has no memory. How far it is shows in the claims, so any process can continue after any other.
package growth

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Facts is the input of the rule.
type Facts struct {
	// Members are the members by etcd's own answers. A member is New if its pod is newer than this command.
	restart.Facts

	// Claims are those with the members' data. One is missing while its pod has not been seen.
	Claims []Claim
	// Size is what each claim is to have, in bytes.
	Size int64
}

// Kind is what is to be done next. The zero Kind is Blocked.
type Kind int

// The kinds.
const (
	// Blocked means that a rule forbids the next step now.
	Blocked Kind = iota
	// Stopped means that no further step can be made until a user has repaired something.
	Stopped
	// Wait means that a claim grows or a member starts.
	Wait
	// Grow means that the claim is to request the size.
	Grow
	// MoveLeader means that the member must transfer its leadership before it restarts.
	MoveLeader
	// Restart means that the member's pod is to be evicted.
	Restart
	// Done means that nothing is left to do.
	Done
)

// Step is the result of the rule.
type Step struct {
	Kind Kind
	// Pod is the member that the step is about.
	Pod    string
	Reason policy.Reason
	// Message is for users.
	Message string
}

// Next returns the next step. The rows of docs/rules/growth.md are in the same order; the first that
// applies wins.
func Next(f Facts) Step {
	for _, c := range f.Claims {
		if v := MayGrow(c, f.Size); !v.Allowed {
			return Step{Stopped, c.Pod, v.Reason, v.Message}
		}
		if c.Failure != "" && !c.Grown(f.Size) {
			return Step{Stopped, c.Pod, ResizeFailed, fmt.Sprintf("volume claim %s of %s did not grow: %s", c.Name, c.Pod, c.Failure)}
		}
	}
	if s, awaited := restart.Awaited(f.Facts); awaited {
		return Step{Wait, s.Pod, s.Reason, s.Message}
	}
	if s, growing := f.growing(); growing {
		return s
	}
	if pending := f.order(f.requested); len(pending) > 0 {
		return f.restart(pending[0])
	}
	if len(f.Claims) < f.Cluster.Size {
		return Step{Blocked, "", policy.MemberDown, fmt.Sprintf("%d of %s have a pod, so the other volume claims are not known", len(f.Claims), policy.Count(f.Cluster.Size, "member"))}
	}
	if order := Order(f); len(order) > 0 {
		return f.begin(order[0])
	}
	return Step{Kind: Done, Reason: VolumesComplete, Message: "every volume has the size"}
}

// Begun reports whether a claim requests the size. Then what is blocked is awaited: a member may be starting that
// an interrupted command has restarted.
func Begun(f Facts) bool {
	return slices.ContainsFunc(f.Claims, func(c Claim) bool { return c.Request >= f.Size })
}

// requested reports whether a claim requests the size and its volume doesn't have it.
func (f Facts) requested(c Claim) bool { return c.Request >= f.Size && c.Capacity < f.Size }

// growing returns the step that waits for a claim, if there is one.
func (f Facts) growing() (Step, bool) {
	for _, c := range f.Claims {
		if f.requested(c) && !c.NeedsRestart {
			return Step{Wait, c.Pod, VolumeGrowing, fmt.Sprintf("the volume of %s grows: it has %s", c.Pod, policy.Bytes(c.Capacity))}, true
		}
	}
	return Step{}, false
}

// restart returns the step for a member whose file system grows only in a new pod.
func (f Facts) restart(pod string) Step {
	s := restart.Stop(f.Facts, pod)
	switch s.Kind {
	case restart.MoveLeader:
		return Step{MoveLeader, pod, s.Reason, s.Message}
	case restart.Restart:
		return Step{Restart, pod, RestartToGrow, "the file system of " + pod + " grows only in a new pod"}
	case restart.Blocked, restart.Wait, restart.Done:
	}
	return Step{Blocked, pod, s.Reason, s.Message}
}

// begin returns the step for a claim that doesn't request the size yet. A member that is broken can't be
// interrupted, and may be broken because its volume is full.
func (f Facts) begin(pod string) Step {
	s := restart.Stop(f.Facts, pod)
	broken := slices.ContainsFunc(f.Members, func(m restart.Member) bool { return m.Pod == pod && m.Broken() })
	switch {
	case broken:
		return Step{Grow, pod, policy.CuresMember, pod + " is not healthy, and a full volume may be why"}
	case s.Kind == restart.Blocked:
		return Step{Blocked, pod, s.Reason, s.Message}
	}
	return Step{Grow, pod, policy.QuorumKept, "the other members are healthy, so " + pod + " may restart if its file system needs it"}
}

// Order returns the pods whose claims are still to request the size, in the order of restarts.
func Order(f Facts) []string {
	return f.order(func(c Claim) bool { return c.Request < f.Size })
}

func (f Facts) order(left func(Claim) bool) []string {
	those := f.Facts
	those.Only, those.Members = "", slices.Clone(f.Members)
	for i, m := range those.Members {
		those.Members[i].New = false
		those.Members[i].Recorded = slices.ContainsFunc(f.Claims, func(c Claim) bool { return c.Pod == m.Pod && left(c) })
	}
	return restart.Order(those)
}
