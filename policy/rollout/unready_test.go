// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// process is the etcd of a pod, and when it runs.
type process struct {
	created, started, runs time.Duration
}

// unready is a cluster whose etcd has a quorum, while no pod is Ready: each probe fails.
type unready struct {
	facts     Facts
	processes [][]process // by set
	// mended is true if pods with the newest template are Ready as soon as their etcd runs.
	mended bool
	rng    *rand.Rand
	now    time.Duration
}

// newUnready returns a cluster of sets of so many pods each, which have not been Ready for outageLimit.
func newUnready(rng *rand.Rand, sets, pods int) *unready {
	u := &unready{rng: rng, now: time.Hour, mended: rng.IntN(2) == 0}
	f := of("xxxxx"[:sets*pods], "ooooo"[:sets*pods], pods)
	all, set := f.Sets[0].Pods, f.Sets[0]
	f.Sets = nil
	for i := range sets {
		set.Name, set.Pods = string(rune('a'+i)), all[i*pods:(i+1)*pods]
		f.Sets = append(f.Sets, set)
		u.processes = append(u.processes, make([]process, pods))
	}
	u.facts = f
	return u
}

// restart stops the etcd of a pod. Its volume is attached and its data is read within some time.
func (u *unready) restart(set, at int) {
	p := process{created: u.now + time.Duration(u.rng.IntN(30))*time.Second}
	p.started = p.created + time.Duration(u.rng.IntN(600))*time.Second
	p.runs = p.started + time.Duration(u.rng.IntN(int(outageLimit)))
	u.processes[set][at] = p
	u.facts.Sets[set].Pods[at].Updated = true
}

// observe sets what is seen of the pods now, and returns how many members run etcd.
func (u *unready) observe() (running int) {
	u.facts.Cluster.Members = nil
	for i, set := range u.facts.Sets {
		for at := range set.Pods {
			p, pod := u.processes[i][at], &u.facts.Sets[i].Pods[at]
			pod.Exists = u.now >= p.created
			pod.StartedFor, pod.NotReadyFor = max(0, u.now-p.started), max(0, u.now-p.created)
			pod.Ready = u.mended && pod.Updated && u.now >= p.runs
			if pod.PodReady = pod.Ready; pod.Ready {
				pod.NotReadyFor = 0
			}
			running += policytest.ToInt(u.now >= p.runs)
			u.facts.Cluster.Members = append(u.facts.Cluster.Members, pod.Member)
		}
	}
	return running
}

// act does a step as the controllers do: those of StatefulSets restart all outdated pods from their partition on.
func (u *unready) act(step Step) {
	for i := range u.facts.Sets {
		set := &u.facts.Sets[i]
		if set.Value != step.Values[i] || step.Released[i] {
			u.facts.Since = 0
		}
		set.Value, set.Held = step.Values[i], set.Held && !step.Released[i]
		down := !set.Held && slices.ContainsFunc(set.Pods, func(p Pod) bool { return p.Updated && !p.well() })
		for at, pod := range slices.Backward(set.Pods) {
			byController := !set.Value.OnDelete && at >= set.Value.Partition && !down
			if pod.outdated() && (byController || step.Delete && pod.Pod == step.Pod) {
				u.restart(i, at)
				down = !set.Held
			}
		}
	}
}

// TestUnreadyPodsMayRunEtcd rolls out a template while no pod is Ready, and etcd is well in each of them. At most one
// member is stopped at a time, by a rollout that is held and by the end of a hold, and each rollout ends.
func TestUnreadyPodsMayRunEtcd(t *testing.T) {
	t.Parallel()
	rng := policytest.Seed(t)
	for range 300 {
		sets, pods := 1, 3+rng.IntN(3)
		ends := rng.IntN(2) == 0
		if rng.IntN(2) == 0 {
			sets, pods = 3+rng.IntN(3), 1
		}
		u := newUnready(rng, sets, pods)
		if ends {
			unguardedFor(settle)(&u.facts)
			u.facts.Since = time.Duration(rng.IntN(3)) * holdLimit // of a hold that began before
		}
		for !u.done() {
			if running := u.observe(); running < sets*pods-1 {
				t.Fatalf("%d sets of %d, the hold ends: %t, mended: %t, at %s: %d members run", sets, pods, ends, u.mended, u.now, running)
			}
			u.act(Evaluate(u.facts, settings))
			u.now, u.facts.Since = u.now+3*time.Second, u.facts.Since+3*time.Second
			if u.now > 20*time.Hour {
				t.Fatalf("%d sets of %d, the hold ends: %t, mended: %t: it never ends: %+v", sets, pods, ends, u.mended, Evaluate(u.facts, settings))
			}
		}
	}
}

// done reports whether every pod was restarted, or the controller of a StatefulSet waits for one that it has
// restarted and that is not Ready.
func (u *unready) done() bool {
	return !slices.ContainsFunc(u.facts.Sets, func(s Set) bool {
		return slices.ContainsFunc(s.Pods, func(p Pod) bool { return !p.Updated && (s.Held || len(s.Pods) == 1 || u.mended) })
	})
}
