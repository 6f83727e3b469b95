// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// states are the states of a pod: its letter of policytest.Kinds, and that of its template.
var states = []string{"vo", "vn", "xo", "xn", "po", "pn", "mo", "mn", "xO", "x-", "xf"}

// TestEachState asks for a step in each state of up to five members with each strategy in force. No
// step lets two pods restart, or one that is up beside one that is not back yet, or takes a quorum.
func TestEachState(t *testing.T) {
	t.Parallel()
	asked := 0
	for n := 2; n <= 5; n++ {
		count := 1
		for range n {
			count *= len(states)
		}
		for code := range count {
			members, templates := "", ""
			for rest := code; len(members) < n; rest /= len(states) {
				members, templates = members+states[rest%len(states)][:1], templates+states[rest%len(states)][1:]
			}
			for partition := -1; partition <= n; partition++ {
				f := of(members, templates, partition)
				if partition < 0 {
					onDelete(&f)
				}
				for _, since := range []time.Duration{0, holdLimit} {
					f.Since = since
					missingFor(since)(&f)
					checkStep(t, f)
					asked++
				}
				if n == 5 {
					continue // it takes long, and adds nothing to what follows
				}
				f.Sets[0].Ordered = true
				checkStep(t, f)
				f.Sets[0].Ordered = false
				waited(&f)
				checkStep(t, f)
				justNow(&f)
				checkStep(t, f)
				asked += 3
			}
			if t.Failed() {
				t.Fatalf("members %s, templates %s", members, templates)
			}
		}
	}
	if asked < 500_000 {
		t.Errorf("only %d steps were asked for", asked)
	}
}

// checkUnguarded asks for the step of the same state without a policy. No pod restarts by it, unless the
// rollout is released as it is with a policy.
func checkUnguarded(t *testing.T, f Facts) {
	t.Helper()
	guarded := Evaluate(f, settings)
	f.Unguarded, f.UnguardedFor = true, settle-1
	step := Evaluate(f, settings)
	if guarded.Act == Release {
		if step.Act != Release {
			t.Errorf("%s without a policy, and %s with one", text(step), text(guarded))
		}
		return
	}
	highest := -1
	for i, p := range f.Sets[0].Pods {
		if p.outdated() {
			highest = i
		}
	}
	v := step.Values[0]
	created := v.OnDelete && slices.ContainsFunc(f.Sets[0].Pods, Pod.absent) // with the template that it was to get
	if step.Act != Hold || step.Delete || !created && (v.OnDelete || v.Partition <= highest) {
		t.Errorf("%s without a policy", text(step))
	}
	f.UnguardedFor = settle
	if step := Evaluate(f, settings); step.Act != Release {
		t.Errorf("%s after the settle time without a policy", text(step))
	}
}

// checkDataEnds asks for the step of the same state if the data of members that are down ends with their
// pods. None of them restarts by it without a quorum.
func checkDataEnds(t *testing.T, f Facts) {
	t.Helper()
	f.Sets = slices.Clone(f.Sets)
	f.Sets[0].Pods = slices.Clone(f.Sets[0].Pods)
	dataEnds(&f)
	step := Evaluate(f, settings)
	v, quorum := step.Values[0], f.Cluster.ReadyVoters() >= policy.Quorum(f.Cluster.Size)
	for i, p := range f.Sets[0].Pods {
		restarts := step.Delete && p.Pod == step.Pod || !v.OnDelete && i >= v.Partition && p.outdated()
		if restarts && p.DataEnds && !quorum {
			t.Errorf("%s, and %s loses its data", text(step), p.Pod)
		}
	}
}

// checkStep compares a step with a naive judgement of which pods may restart by it.
//
//nolint:gocyclo // one condition a promise
func checkStep(t *testing.T, f Facts) {
	t.Helper()
	step := Evaluate(f, settings)
	if len(f.Sets[0].Pods) < 5 { // more take long, and add nothing
		checkUnguarded(t, f)
		checkDataEnds(t, f)
	}
	set, v := f.Sets[0], step.Values[0]
	var restart, created []Pod
	away, healthy, failing, starting, young := 0, 0, false, false, false
	for i, p := range set.Pods {
		// Any version of the StatefulSet's controller: some restart all that are not Ready.
		if byController := !v.OnDelete && i >= v.Partition && p.outdated(); byController || step.Delete && p.Pod == step.Pod {
			restart = append(restart, p)
		}
		if p.absent() || p.Updated && !p.well() {
			away++
		}
		if p.well() {
			healthy++
		}
		failing, starting = failing || p.Failing, starting || p.Updated && !p.absent() && !p.well()
		young = young || p.Updated && !p.absent() && !p.well() && p.StartedFor < outageLimit
		if gets := v.OnDelete || i >= v.Partition; p.missing() && gets && !set.getsNewest(i) {
			created = append(created, p)
		}
	}
	q := policy.Quorum(len(set.Pods))
	for _, p := range restart {
		if len(restart) > 1 || p.well() && away > 0 || young {
			t.Errorf("%s beside %d that are away: %+v", text(step), away, restart)
		}
		if p.well() && healthy >= q && healthy-1 < q && healthy < len(set.Pods) || !p.well() && !p.down() && healthy < q {
			t.Errorf("%s takes the quorum or an unclear member: %d healthy", text(step), healthy)
		}
	}
	for _, p := range created {
		// Without a quorum, a pod that is down may restart by OnDelete, which serves the missing ones, too.
		if starting && (healthy >= q || step.Pod == p.Pod) || p.MissingFor < createLimit && !set.waitsInOrder(slices.IndexFunc(set.Pods, func(o Pod) bool { return o.Pod == p.Pod })) {
			t.Errorf("%s gives %s the new template, missing for %s", text(step), p.Pod, p.MissingFor)
		}
	}
	for _, p := range restart {
		if failing || healthy < q && p.NotReadyFor < outageLimit && !p.well() {
			t.Errorf("%s after an outage of %s, a pod can't start: %t", text(step), p.NotReadyFor, failing)
		}
	}
	if step.Message == "" || (step.Reason == policy.Reason{}) {
		t.Errorf("%s has no reason", text(step))
	}
}
