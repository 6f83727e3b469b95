// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// counted is what Kubernetes counts of a cluster, and what etcd counts. A StatefulSet that was scaled in by hand has
// fewer pods than etcd has voters, and a cluster with learners has more.
type counted struct {
	// pods is how many pods the workloads of the cluster ask for.
	pods int
	// voters are those that these pods run, and those that no pod runs any more. It lacks those that other workloads
	// run.
	voters int
	// beside counts the Ready pods that run no voter. A disruption budget counts them as healthy.
	beside int
}

// counted returns the numbers. The list of etcd decides where it is known. Otherwise, the largest size that is known
// does, and each pod counts as a voter.
func (f *Facts) counted() counted { return f.countedOf(f.voters().total) }

// countedSurely returns the numbers without voters that only the lists of pods show. A check that asks for a stricter
// budget uses them: a budget that is too strict has every drain wait.
func (f *Facts) countedSurely() counted { return f.countedOf(f.voters().sure()) }

func (f *Facts) countedOf(total int) counted {
	c := counted{pods: f.Size()}
	if f.listKnown() {
		c.beside = f.podsWithoutVote()
		for _, l := range f.Survey.Value.List {
			total -= toInt(!l.Learner && f.runsElsewhere(l))
		}
		c.voters = total
		return c
	}
	c.voters = max(c.pods, total)
	return c
}

// podsWithoutVote counts the Ready pods whose members are known to be no voters.
func (f *Facts) podsWithoutVote() int {
	n, outsiders := 0, f.Survey.Value.NonMemberPods()
	for _, m := range f.Survey.Value.Members {
		pod := f.pod(m.Pod)
		n += toInt(pod != nil && podstate.Ready(pod) && (m.Err == nil && m.Learner || slices.Contains(outsiders, m.Pod)))
	}
	return n
}

// single reports whether there is one voter at most.
func (c counted) single() bool { return c.pods <= 1 && c.voters <= 1 }

// gone counts the voters that no pod runs.
func (c counted) gone() int { return max(0, c.voters+c.beside-c.pods) }

// least returns how many of the pods must stay so that a quorum stays, whichever of them go. Pods that have no member
// yet get one.
func (c counted) least() int { return max(policy.Quorum(c.voters)+c.beside, policy.Quorum(c.pods)) }

// joining reports whether there are pods that have no member yet.
func (c counted) joining() bool { return c.voters+c.beside < c.pods }

// keeps reports whether a budget with a minimum keeps the quorum, as far as there are pods for it.
func (c counted) keeps(minimum int) bool { return minimum >= min(c.least(), c.pods) }

// kept describes what a minimum keeps.
func (c counted) kept(minimum int) string {
	switch {
	case c.beside > 0:
		return fmt.Sprintf("%d of %d pods; %s no voter", minimum, c.pods, policy.Plural(c.beside, "of them runs", "of them run"))
	case c.voters != c.pods:
		return fmt.Sprintf("%d of %s", minimum, policy.Count(c.voters, "voter"))
	}
	return fmt.Sprintf("%d of %s", minimum, policy.Count(c.pods, "member"))
}

// all names the pods that a budget is to select.
func (c counted) all() string {
	if c.gone() > 0 {
		return fmt.Sprintf("the pods of the %s", policy.Count(c.voters, "voter"))
	}
	return fmt.Sprintf("the %s", policy.Count(c.pods, "member"))
}

// quorum describes the quorum after what kept returns.
func (c counted) quorum() string {
	if c.beside > 0 {
		return fmt.Sprintf("; quorum is %d of %d", policy.Quorum(c.voters), c.voters)
	}
	return fmt.Sprintf(", quorum is %d", policy.Quorum(c.voters))
}

// noOther returns the finding of a check that compares members, about a cluster with one pod at most.
func (c counted) noOther(text string) []Finding {
	if c.single() {
		return notApplicable("%s", text)
	}
	return notApplicable("one of %s has a pod", policy.Count(c.voters, "voter"))
}
