// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// members is the number of members of a cluster by kind, in the order of Kinds. Members of
// a kind are alike, so one value stands for every cluster that has it.
type members [len(policytest.Kinds)]uint8

func (m members) String() string {
	s := ""
	for k, n := range m {
		for range n {
			s += policytest.Kinds[k : k+1]
		}
	}
	return s
}

// everyCluster calls f with all clusters of size members.
func everyCluster(size int, f func(members)) {
	var m members
	var fill func(kind, left int)
	fill = func(kind, left int) {
		if kind == len(m)-1 {
			m[kind] = uint8(left)
			f(m)
			return
		}
		for n := range left + 1 {
			m[kind] = uint8(n)
			fill(kind+1, left-n)
		}
	}
	fill(0, size)
}

// The Kinds by what they mean, in a second, naive reading of etcd and of
// Kubernetes that shares nothing with the rule.
const (
	wellV = iota
	downV
	podOnlyV
	memberOnlyV
	wellL
	downL
	podOnlyL
	memberOnlyL
)

func (m members) readyPods() int {
	return int(m[wellV] + m[podOnlyV] + m[wellL] + m[podOnlyL])
}

func (m members) voters() int {
	return int(m[wellV] + m[downV] + m[podOnlyV] + m[memberOnlyV])
}

func (m members) size() int {
	n := 0
	for _, of := range m {
		n += int(of)
	}
	return n
}

// hasQuorum asks etcd: do more than half of all voters live?
func (m members) hasQuorum(voters int) bool {
	return 2*int(m[wellV]+m[memberOnlyV]) > voters
}

// budget is a PodDisruptionBudget as the eviction API sees it: an integer
// minAvailable and the status that the disruption controller last wrote.
type budget struct {
	pods           members // those that can still be evicted, as they truly are
	otherPods      int
	desired        int
	currentHealthy int
	allowed        int
	guard          *guard // nil without one
}

func newBudget(m members, otherPods, desired int) budget {
	b := budget{pods: m, otherPods: otherPods, desired: desired}
	b.sync()
	return b
}

// sync is the disruption controller's updatePdbStatus.
func (b *budget) sync() {
	b.currentHealthy = b.pods.readyPods() + b.otherPods
	b.allowed = max(0, b.currentHealthy-b.desired)
}

// evict is EvictionREST.Create of kubernetes 1.37 for one pod of a kind, whose
// member then is gone. It reports whether the eviction is admitted.
func (b *budget) evict(kind int) bool {
	ready := kind == wellV || kind == podOnlyV || kind == wellL || kind == podOnlyL
	switch {
	case b.pods[kind] == 0:
		return false
	case b.guard != nil && !b.guard.admits(b.pods, kind):
		return false
	case !ready && b.currentHealthy >= b.desired && b.desired > 0:
	case b.allowed > 0:
		b.allowed--
	default:
		return false
	}
	b.pods[kind]--
	return true
}

// everySequence walks through whatever evictions the budget admits without a
// new decision on minAvailable, in every order, and the disruption controller
// reads the pods after each, or does not. It calls f with the members that live on,
// until f returns false.
func (b budget) everySequence(f func(members) bool) {
	seen := map[budget]bool{}
	var walk func(budget) bool
	walk = func(at budget) bool {
		if seen[at] {
			return true
		}
		seen[at] = true
		if !f(at.pods) {
			return false
		}
		for kind := range at.pods {
			next := at
			if !next.evict(kind) {
				continue
			}
			synced := next
			synced.sync()
			if !walk(next) || !walk(synced) {
				return false
			}
		}
		if at.otherPods > 0 && at.allowed > 0 {
			next := at
			next.otherPods--
			next.allowed--
			return walk(next)
		}
		return true
	}
	walk(b)
}

// losesQuorum finds the members that live on after evictions that this budget
// admits and that cost a quorum of so many voters which was there before.
func (b budget) losesQuorum(voters int) (left members, lost bool) {
	if !b.pods.hasQuorum(voters) {
		return left, false
	}
	b.everySequence(func(m members) bool {
		if m.hasQuorum(voters) {
			return true
		}
		left, lost = m, true
		return false
	})
	return left, lost
}

// admits reports whether a pod of a kind could be evicted right now.
func (b budget) admits(kind int) bool { return b.evict(kind) }

func (b budget) String() string {
	return fmt.Sprintf("%s, %d other pods, minAvailable %d", b.pods, b.otherPods, b.desired)
}
