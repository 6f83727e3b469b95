// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func names(members []Member) []string {
	var out []string
	for _, m := range members {
		out = append(out, m.Name)
	}
	return out
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// sizes has the number of members and the desired one, for a row whose condition on them holds.
func (s *state) sizes(asked string) Evidence {
	if asked == "" {
		asked = "any"
	}
	return Evidence{Fact: "members of etcd", Asked: asked, Observed: fmt.Sprintf("%d, desired %d", s.voters, s.Desired), Met: true}
}

func (s *state) pods(asked string, met bool) Evidence {
	return Evidence{Fact: "ready pods", Asked: asked, Observed: fmt.Sprintf("%d of %d", s.ReadyPods, s.Replicas), Met: met}
}

func (s *state) members(asked string, met bool) Evidence {
	if asked == "" {
		asked = "any"
	}
	observed := fmt.Sprintf("%d of %d, quorum is %d", s.ready, s.voters, s.quorum)
	if s.unseen > 0 {
		observed += fmt.Sprintf(", unknown %d", s.unseen)
	}
	return Evidence{Fact: "healthy members", Asked: asked, Observed: observed, Met: met}
}

// leases counts the expired leases. Only members of an operator have leases.
func (s *state) leases() Evidence {
	expired, leases := 0, 0
	for _, m := range s.Members {
		expired += one(m.Lease == LeaseExpired)
		leases += one(m.Lease != NoLease)
	}
	e := Evidence{Fact: "expired leases", Asked: "0", Observed: fmt.Sprintf("%d of %d", expired, leases), Met: expired == 0}
	if leases == 0 {
		e.Observed, e.Met = "there are no leases", true
	}
	return e
}

func (s *state) inGrace(asked string, observed int) Evidence {
	return Evidence{Fact: "not ready, in the grace period", Asked: asked, Observed: fmt.Sprint(observed), Met: true}
}

// pastGrace has the number of members whose grace period is over, or of which no object shows when it began.
func (s *state) pastGrace(asked string, n int, met bool) Evidence {
	observed := fmt.Sprint(n)
	if _, undated := s.split(); len(undated) > 0 {
		observed += fmt.Sprintf(" (for %d, no object shows since when)", len(undated))
	}
	return Evidence{Fact: "not ready for longer than the grace period", Asked: asked, Observed: observed, Met: met}
}

func (s *state) noOperation() Evidence {
	if s.Operation != "" {
		return Evidence{Fact: "operation", Asked: "none, or a rollout that is held", Observed: s.Operation, Met: s.HeldRollout}
	}
	return Evidence{Fact: "operation", Asked: "none", Observed: "none", Met: true}
}

// statuses returns what the operator reports of members.
func (s *state) statuses(members []Member) Evidence {
	var observed []string
	for _, m := range members {
		one := m.Name + " " + string(m.Status)
		if !m.StatusSince.IsZero() {
			one += " for " + policy.Duration(s.At.Sub(m.StatusSince).Round(time.Second))
		}
		if m.Lease != NoLease {
			one += ", lease " + string(m.Lease)
		}
		observed = append(observed, one)
	}
	return Evidence{Fact: "status of members", Asked: "as pods and leases show it", Observed: strings.Join(observed, "; "), Met: false}
}

// conditions compares the three conditions with those that a row asks for: each asks for
// BackupReady True. Without an operator that reports them, only a backup job sets one.
func (s *state) conditions(ready, all policy.Status) []Evidence {
	out := []Evidence{s.condition("BackupReady", s.BackupReady, policy.True)}
	switch {
	case s.reports():
		return append([]Evidence{s.condition("Ready", s.Ready, ready), s.condition("AllMembersReady", s.AllMembersReady, all)}, out...)
	case s.BackupReady.Status == policy.Absent:
		return nil
	}
	return out
}

func (s *state) condition(name string, c policy.Condition, asked policy.Status) Evidence {
	e := Evidence{Fact: name, Asked: string(asked), Observed: string(c.Value()), Met: c.Value() == asked}
	switch {
	case c.Status == policy.Absent:
		e.Observed = "nothing sets it"
	case c.Value() != c.Status:
		e.Observed = fmt.Sprintf("%s, last confirmed %s ago", c.Status, policy.Duration(c.Age.Round(time.Second)))
	case c.Reason != "":
		e.Observed += " (" + c.Reason + ")"
	}
	return e
}
