// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// wayToCreate returns how the members of a StatefulSet change that is created over those of an earlier one: after it
// has all of them again.
func (f Facts) wayToCreate() string {
	create := "create it with " + policy.Count(max(f.Voters-max(f.Others, f.Elsewhere), f.Now), "replica")
	switch {
	case f.Manager != "":
		return create + "; then, " + f.Manager + " changes the members: " + f.How
	case f.Elsewhere > 0:
		return create + "; then, " + f.wayElsewhere()
	case f.How != "":
		return create + "; then, once all are ready, " + f.How
	}
	return create + ", then, once all are ready, use " + f.scaleCommand() + "N"
}

// wayElsewhere returns how the number of members is changed beside members elsewhere.
func (f Facts) wayElsewhere() string {
	cluster := policy.Cluster{Namespace: f.Namespace, Target: f.Target}
	return fmt.Sprintf("%d of the %s run elsewhere or not at all, were not asked, and count as down; kubectl etcd check %s --only M001 asks etcd about them, and prints the command that removes each one that is dead; "+
		"%s; then set N to the number of voters that etcd has, and %s", f.Elsewhere, policy.Count(f.Voters, "voter"), f.args(), policy.CountElsewhere, cluster.DeclareVoters("N"))
}

// wayOfSets returns how the members of a cluster that spans several StatefulSets are changed. A member is removed by a
// write like the refused one, so what must change before that comes first.
func (f Facts) wayOfSets() string {
	declare := func(n string) string {
		return policy.Cluster{Namespace: f.Namespace, Target: f.Target}.DeclareVoters(n)
	}
	switch {
	case f.Asked > f.Now:
		return f.How
	case len(f.Stopped) > 0 && f.Now < f.Voters:
		var start []string
		for _, set := range f.Stopped {
			start = append(start, fmt.Sprintf("kubectl scale statefulset/%s -n %s --replicas N", set, f.Namespace))
		}
		return fmt.Sprintf("first start the other voters again, with N as before: %s; if etcd has only N voters, %s; then, %s",
			strings.Join(start, " and "), declare("N"), f.How)
	case f.Voters == 2 && f.Keeping == 1:
		return fmt.Sprintf("etcd must remove one of the 2 voters before it stops: %sremove it with etcdctl member remove, which needs both voters; then %s; then scale its StatefulSet in, and delete it",
			f.keepsClaims()+f.readyFirst(), declare("1"))
	case f.Now-f.Asked > 1:
		return f.keepsClaims() + f.readyFirst() + "remove one member at a time, so remove one replica at a time: " + f.How
	}
	return f.keepsClaims() + f.readyFirst() + f.How
}

// wayToStart returns how all voters are started, as a clause, if there are so many replicas. kubectl etcd scale only starts
// members that their operator adds: of others, it finds no voter to ask. It accepts exactly as many as have volumes, while none runs.
func (f Facts) wayToStart(replicas int) string {
	switch {
	case f.Moved:
		return f.way()
	case f.Creates && f.Sets == "":
		return fmt.Sprintf("create it with %s; if their data is not needed, delete their volume claims first; if etcd has fewer voters, "+
			"declare them in the manifest with the annotation kubectl-etcd.dev/size: \"%d at TIME\", with the current time, as in 2026-01-31T12:00:00Z",
			policy.Count(f.own(), "replica"), f.Asked)
	case f.Manager != "":
		return f.way()
	case f.Sets != "":
		return "to start all, set the replicas of each StatefulSet (" + f.Sets + ") to what they were"
	case f.Adder != "" && f.Held == f.Voters && replicas == 0:
		return fmt.Sprintf("to start all, run: %s%d", f.scaleCommand(), f.Voters)
	case f.Reconcile != "":
		return fmt.Sprintf("to start all, run: %s; kubectl annotate %s %s", f.bringBack(), f.args(), f.Reconcile)
	case f.Operator != "":
		return "to start all, " + f.bringBack()
	case f.own() < f.Voters:
		return "to start all that have a replica here, run: " + f.bringBack() + "; the others start with their own workloads"
	}
	return "to start all, run: " + f.bringBack()
}

// wayToStartRecorded returns the same, and how as many voters as are asked for are recorded.
func (f Facts) wayToStartRecorded() string {
	if f.Moved || f.Creates {
		return f.wayToStart(0)
	}
	return f.wayToStart(0) + "; if etcd has fewer voters, declare them with the replicas: " + f.declaration(f.Asked)
}
