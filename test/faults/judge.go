// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// knownAfter is how long a pod must be unready before everything in the cluster has to know it.
// Until then, an eviction beside it may be admitted: docs/rules/budget.md counts these states.
const knownAfter = 15 * time.Second

// facts are what the judge has to know besides the pods.
type facts struct {
	// disturbed are the pods of the members that the test stopped and that are not ready since.
	disturbed map[string]bool
	// guarded is set while a policy is in force.
	guarded bool
	// loose is set while a rollout is in progress that nothing holds.
	loose bool
	// budget is set if the cluster has a budget.
	budget bool
	// absent counts the open faults that stop all replicas of etcd-webhook. unanswered is set if
	// etcd-webhook did not answer some request in time.
	absent     int
	unanswered bool
	// deletes is set during a step that removes pods without an eviction.
	deletes bool
}

// unreviewed reports whether etcd-webhook may not have reviewed a request.
func (f facts) unreviewed() bool { return f.absent > 0 || f.unanswered }

// judge decides whether the removal of a pod takes the quorum. It counts a member as running if
// its pod is Ready, or is slow as on a busy machine, and if the test did not stop it.
type judge struct {
	members []string // names of pods
	seen    clusters.Sightings
	// downSince is since when a pod is missing, about to end, or unready.
	downSince map[string]time.Time
}

func newJudge(members []string) *judge {
	return &judge{members: members, seen: clusters.Sightings{}, downSince: map[string]time.Time{}}
}

// removal is the removal of a pod of a member that was running.
type removal struct {
	pod string
	// before and left are how many members ran before and after it.
	before, left int
	// known is left, with the members that stopped so short ago that nothing had to know it.
	// knownLate is the same if etcd-webhook does not answer: then removals, too, are known late.
	known, knownLate int
}

// see records the pods of one moment, and returns the removals since the last one, in the order of the
// members. Which other pods were ready when one was removed is only known to be between both moments, so a
// pod counts that was ready at one of them, and was not removed before or is back.
func (j *judge) see(now time.Time, pods []corev1.Pod, disturbed map[string]bool) []removal {
	before := maps.Clone(j.seen)
	var gone []string
	for _, name := range j.members {
		if j.update(now, name, pods) && !disturbed[name] {
			gone = append(gone, name)
		}
	}
	running := func(name string) bool {
		return !disturbed[name] && (before[name].Available(now) || j.seen[name].Available(now))
	}
	var removed []removal
	for i, name := range gone {
		at := moment{now: now, disturbed: disturbed, running: func(name string) bool {
			return running(name) && (!slices.Contains(gone[:i], name) || j.seen[name].Available(now))
		}}
		removed = append(removed, j.without(at, name))
	}
	return removed
}

// count returns how many members run.
func (j *judge) count(now time.Time, disturbed map[string]bool) int {
	n := 0
	for _, name := range j.members {
		if j.seen[name].Available(now) && !disturbed[name] {
			n++
		}
	}
	return n
}

// update records one pod, and reports whether it ran and was removed.
func (j *judge) update(now time.Time, name string, pods []corev1.Pod) bool {
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name == name })
	pod := &corev1.Pod{}
	pod.Name = name
	if i >= 0 {
		pod = &pods[i]
	}
	was := j.seen[name]
	j.seen.See(pod, i < 0 || pod.DeletionTimestamp != nil, now)
	is := j.seen[name]
	// A pod that was created again between two moments may even be Ready.
	replaced := was.UID != "" && was.UID != is.UID
	if is.Ready && !replaced {
		delete(j.downSince, name)
	} else if _, down := j.downSince[name]; !down {
		j.downSince[name] = now
	}
	return was.Available(now) && (replaced || !is.Ready && is.Slow.IsZero())
}

// moment is what is known of the members when a pod was removed.
type moment struct {
	now       time.Time
	disturbed map[string]bool
	running   func(pod string) bool
}

// without returns the removal of a pod.
func (j *judge) without(at moment, pod string) removal {
	r := removal{pod: pod}
	for _, name := range j.members {
		if at.running(name) {
			r.before++
		}
		if name == pod {
			continue
		}
		since, down := j.downSince[name]
		late := !down || at.now.Sub(since) < knownAfter
		switch {
		case at.running(name):
			r.left++
			r.known++
			r.knownLate++
		case at.disturbed[name] && late:
			r.known++
			r.knownLate++
		case late && down:
			r.knownLate++
		}
	}
	return r
}

// ready reports whether the pod is Ready.
func (j *judge) ready(pod string) bool { return j.seen[pod].Ready }

// isKnown reports whether everything in the cluster has to know that the pod is not Ready.
func (j *judge) isKnown(now time.Time, pod string) bool {
	since, down := j.downSince[pod]
	return down && now.Sub(since) >= knownAfter
}

// verdict returns why a removal is a violation, or why not. An excuse is empty if the quorum is
// not concerned.
func (r removal) verdict(f facts, size int) (violation, excuse string) {
	q := policy.Quorum(size)
	lost := fmt.Sprintf("the removal of %s left %d of %d members running, quorum is %d", r.pod, r.left, size, q)
	switch {
	case r.left >= q || r.before < q:
		return "", ""
	case !f.guarded:
		return "", lost + "; no policy is in force"
	case f.loose:
		return "", lost + "; nothing holds the rollout"
	case r.known >= q:
		return "", lost + "; the other member stopped too short ago"
	case f.unreviewed() && f.deletes:
		return "", lost + "; etcd-webhook did not answer, and no budget covers deletions"
	case f.unreviewed() && !f.budget:
		return "", lost + "; etcd-webhook did not answer, and there is no budget"
	case f.unreviewed() && r.knownLate >= q:
		return "", lost + "; etcd-webhook did not answer, and the other pod was removed too short ago"
	}
	return lost, ""
}
