// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// wayBack is a workload that was scaled in, and that runs voters again with their data.
type wayBack struct {
	workload string
	replicas int
	voters   int
}

// waysBack returns the workloads that certainly run the voters of a lost quorum again: a command starts them, and
// recover waits for them. The StatefulSet of a cluster that has no other workload is not among them: see returns.
func (f *Facts) waysBack() []wayBack {
	if f.Clusters() > 1 {
		return nil
	}
	var ways []wayBack
	for _, l := range f.LastList {
		workload, replicas := f.stoppedAs(l)
		if l.Learner || !f.withoutWorkload(l) || workload == "" || f.Silences[l.ID].StoppedPerhaps || workload == "statefulset/"+f.Owner.StatefulSet && !f.Owner.InParts() {
			continue
		}
		at := slices.IndexFunc(ways, func(w wayBack) bool { return w.workload == workload })
		if at < 0 {
			at, ways = len(ways), append(ways, wayBack{workload: workload})
		}
		ways[at].replicas, ways[at].voters = max(ways[at].replicas, replicas), ways[at].voters+1
	}
	// A StatefulSet starts its first pods too, and one without its data is no way back. A workload with fewer pods
	// than voters is not that of each of them.
	return slices.DeleteFunc(ways, func(w wayBack) bool { return w.voters+f.runOf(w.workload) < w.replicas || w.voters > w.replicas })
}

// runOf counts the members of the last list that a StatefulSet runs now.
func (f *Facts) runOf(workload string) int {
	n, set := 0, strings.TrimPrefix(workload, "statefulset/")
	for _, l := range f.LastList {
		for _, pod := range append([]string{l.Pod}, f.Silences[l.ID].Elsewhere...) {
			n += toInt(owner.OrdinalOf(pod, set, 0) >= 0)
		}
	}
	return n
}

// startAgain returns the command that scales workloads out again.
func (f *Facts) startAgain(ways []wayBack) string {
	var commands []string
	for i, w := range ways {
		if slices.ContainsFunc(ways[:i], func(before wayBack) bool { return before.replicas == w.replicas }) {
			continue // its command has this one
		}
		args := []string{"scale"}
		for _, same := range ways[i:] {
			if same.replicas == w.replicas {
				args = append(args, same.workload)
			}
		}
		commands = append(commands, f.kubectl(append(args, fmt.Sprintf("--replicas %d", w.replicas))...))
	}
	return strings.Join(commands, " && ")
}

// scaledIn reports whether voters of a lost quorum were scaled away and can run again with their data.
func (f *Facts) scaledIn() bool {
	return f.LastVoters > f.Size() && f.returns(f.LastVoters) || len(f.waysBack()) > 0
}

// votersOf counts the voters that workloads run again.
func votersOf(ways []wayBack) int {
	n := 0
	for _, w := range ways {
		n += w.voters
	}
	return n
}

// workloadsOf names workloads.
func workloadsOf(ways []wayBack) []string {
	var names []string
	for _, w := range ways {
		names = append(names, w.workload)
	}
	return names
}
