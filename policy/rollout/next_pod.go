// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// cure returns the step while a pod is down or ailing. A pod that fails with the new template stops everything,
// unless there is no quorum to lose: then none may be ready before the others restart.
func (f Facts) cure() (Step, bool) {
	quorum := f.Cluster.ReadyVoters() >= policy.Quorum(f.Cluster.Size)
	updated := f.named(func(p Pod) bool { return p.Updated && !p.well() })
	failing := f.named(func(p Pod) bool { return p.Updated && !p.well() && p.Failing })
	set, at := f.broken(func(set *Set, at int) bool { return set.Pods[at].down() || set.uncreatable(at) })
	if set == nil {
		set, at = f.broken(f.spares)
	}
	starting := f.named(Pod.starting)
	switch {
	case len(updated) > 0 && (quorum || set == nil || set.Ordered || len(failing) > 0 || set.Pods[at].missing()):
		return f.hold(UpdatedNotReady, "%s not ready with the new template, so the others keep the old one; if it does not start, correct the template", policy.Names(updated, "is", "are")), true
	case set == nil:
		return Step{}, false
	case len(starting) > 0: // etcd may be well in pods that are not Ready, and the next restart is then the second
		return f.hold(UpdatedNotReady, "%s not ready yet with the new template, and there is no quorum: if it is still not ready %s after its containers started, the next pod restarts", policy.Names(starting, "is", "are"), policy.Duration(outageLimit)), true
	}
	if !quorum {
		return f.cureWithoutQuorum(set, at), true
	}
	return f.restart(set, at), true
}

// cureWithoutQuorum restarts a pod that is down, unless it may come back by itself, or its data may be the
// only copy.
func (f Facts) cureWithoutQuorum(set *Set, at int) Step {
	pod := set.Pods[at]
	if ends := f.named(func(p Pod) bool { return p.DataEnds }); len(ends) > 0 {
		return f.hold(DataEnds, "there is no quorum, and %s: none restarts, because there may be no other copy of the data", policy.Names(ends, "may lose its data with its pod", "may lose their data with their pods"))
	}
	if pod.Exists && pod.NotReadyFor < outageLimit {
		return f.hold(policy.NoQuorum, "%s is not ready for %s, and there is no quorum: it gets the new template if it is not ready for %s", pod.Pod, policy.Duration(pod.NotReadyFor.Round(time.Second)), policy.Duration(outageLimit))
	}
	return f.restart(set, at)
}

// restart returns the step by which a pod gets the new template now. One that is missing is created
// with it.
func (f Facts) restart(set *Set, at int) Step {
	pod := set.Pods[at]
	what := "is down"
	switch {
	case pod.missing():
		what = "can't be created"
	case pod.PodReady:
		what = "has a member that is not healthy"
	case pod.Ready:
		what = "is not Ready"
	}
	step := f.step(Restart, policy.CuresMember, fmt.Sprintf("%s %s with the old template, and gets the new one", pod.Pod, what))
	step.Pod = pod.Pod
	for i := range f.Sets {
		if &f.Sets[i] == set {
			step.Values[i] = set.restarting(at)
			step.Delete = set.Observed && set.Value == step.Values[i] && pod.Exists
		}
	}
	return step
}

// broken returns the next pod with an old template, or without one, for which is reports true, nil for none. A
// controller that works in order creates no pod above one that is not Ready.
func (f Facts) broken(is func(set *Set, at int) bool) (*Set, int) {
	for i := range f.Sets {
		set := &f.Sets[i]
		var found []int
		for at := set.Author; at < len(set.Pods); at++ {
			if p := set.Pods[at]; (p.outdated() || p.missing()) && is(set, at) {
				found = append(found, at)
			}
		}
		switch {
		case !set.Held || len(found) == 0:
		case set.Ordered:
			return set, found[0]
		default:
			return set, found[len(found)-1]
		}
	}
	return nil, 0
}

// spares reports whether a pod is ailing, and the other members are a quorum without it. It may take part in etcd
// all the same, so it restarts only then, and only if its controller creates it again at once. The cure of one on a lost
// node is the node.
func (f Facts) spares(set *Set, at int) bool {
	pod, others := set.Pods[at], 0
	for _, m := range f.Cluster.Members {
		if m.Ready && m.PodReady && !m.Learner && m.Pod != pod.Pod {
			others++
		}
	}
	return pod.ailing() && pod.NodeLost == "" && others >= policy.Quorum(f.Cluster.Size) && !set.waitsInOrder(at)
}

// next releases the highest pod of a set that has the old template: of a cluster that spans several,
// the set with the leader is the last.
func (f Facts) next(reason policy.Reason, message string) Step {
	at := -1
	for i := range f.Sets {
		set := &f.Sets[i]
		if !set.Held || set.next() < 0 {
			continue
		}
		if leads := slices.ContainsFunc(set.Pods, func(p Pod) bool { return p.Leader }); at < 0 || !leads {
			at = i
		}
	}
	if at < 0 {
		return f.hold(NotObserved, "the StatefulSet's controller has not counted every pod yet")
	}
	set := &f.Sets[at]
	pod := set.next()
	step := f.step(Next, reason, message)
	step.Pod, step.Values[at] = set.Pods[pod].Pod, Value{Partition: pod}
	return step
}

// affordable reports whether a quorum of voters stays ready when one more restarts.
func (f Facts) affordable() bool {
	return f.Cluster.ReadyVoters()-1 >= policy.Quorum(f.Cluster.Size)
}
