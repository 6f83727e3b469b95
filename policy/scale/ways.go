// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// mostMembers is the largest size that kubectl etcd scale accepts.
const mostMembers = 15

// way returns how the number of members is changed, as a clause.
func (f Facts) way() string {
	switch {
	case f.Moved:
		return fmt.Sprintf("leave spec.ordinals.start at %d, where the pods and volume claims of the members are", f.First)
	case f.Manager != "":
		return f.Manager + " changes the members: " + f.How
	case f.Druid:
		return "etcd-druid removes no members: restore a backup into a new Etcd of that size"
	case f.Elsewhere > 0 && f.Asked < f.Now:
		return f.wayElsewhere()
	case f.Sets != "":
		return f.wayOfSets()
	case f.How != "" && f.Asked < f.Now:
		return f.How + "; if etcd has fewer voters, declare them with the replicas: " + f.declaration()
	case f.How != "":
		return f.How
	}
	command := fmt.Sprintf("kubectl etcd scale %s -n %s --replicas ", f.Target, f.Namespace)
	switch {
	case f.Creates:
		return fmt.Sprintf("create it with %s, then use %sN", policy.Count(f.own(), "replica"), command)
	case f.Now < f.own() && f.Volumes != Deleted:
		return fmt.Sprintf("first bring the other voters back: kubectl scale %s -n %s --replicas %d; then use %sN", f.Target, f.Namespace, f.own(), command)
	case f.Others > 0:
		return fmt.Sprintf("its lists name %s that no StatefulSet of the cluster has; instead use %sN: if other workloads run them, it prints how members are added and removed", policy.Count(f.Others, "member"), command)
	case f.Asked%2 == 0, f.Asked > mostMembers:
		return fmt.Sprintf("instead use %sN, with an odd N up to %d", command, mostMembers)
	}
	return fmt.Sprintf("instead run: %s%d", command, f.Asked)
}

// own returns how many of the voters may have a replica of the cluster: not those of other workloads, but each that has
// a volume claim.
func (f Facts) own() int { return max(f.Voters-f.Others, min(f.Held, f.Voters), min(1, f.Voters)) }

// wayOfRestart returns how a coordinated restart is ended or continued, as a clause. The end comes
// first: it also finds out whether there is a restart, and continuing one stops the members.
func (f Facts) wayOfRestart() string {
	command := fmt.Sprintf("kubectl etcd restart %s -n %s", f.Target, f.Namespace)
	return fmt.Sprintf("end it: %s --abort; if that finds no restart to end, remove the mark: kubectl annotate statefulset %s -n %s kubectl-etcd.dev/restart-; or continue it: %s --strategy coordinated",
		command, f.Marked, f.Namespace, command)
}

// wayOfRestore returns how a restore is ended or continued, as a clause. The command that ends it also finds out
// whether there is one.
func (f Facts) wayOfRestore() string {
	return fmt.Sprintf("continue it: kubectl etcd snapshot restore FILE %[1]s -n %[2]s; or end it: kubectl etcd snapshot restore %[1]s -n %[2]s --abort; "+
		"if that finds no restore to end, remove the mark: kubectl annotate statefulset %[3]s -n %[2]s kubectl-etcd.dev/restore-", f.Target, f.Namespace, f.Marked)
}

// wayElsewhere returns how fewer replicas are possible beside members elsewhere.
func (f Facts) wayElsewhere() string {
	cluster := policy.Cluster{Namespace: f.Namespace, Target: f.Target}
	return fmt.Sprintf("%d of them run elsewhere or not at all, were not asked, and count as down; kubectl etcd check %s --only M001 asks etcd about them, and prints the command that removes each one that is dead; "+
		"%s; then set N to the number of voters that etcd has, and %s", f.Elsewhere, cluster.TargetArgs(), policy.CountElsewhere, cluster.DeclareVoters("N"))
}

// declaration returns the command that sets the replicas and declares that etcd has as many voters.
func (f Facts) declaration() string {
	return fmt.Sprintf(`kubectl patch %s -n %s --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"%d at '$(date -u +%%FT%%TZ)'"}},"spec":{"replicas":%d}}'`,
		f.Target, f.Namespace, f.Asked, f.Asked)
}

// wayOfSets returns how the members of a cluster that spans several StatefulSets are changed.
func (f Facts) wayOfSets() string {
	if f.Asked > f.Now || len(f.Stopped) == 0 || f.Now >= f.Voters {
		return f.How
	}
	var start []string
	for _, set := range f.Stopped {
		start = append(start, fmt.Sprintf("kubectl scale statefulset/%s -n %s --replicas N", set, f.Namespace))
	}
	return fmt.Sprintf("first start the other voters again, with N as before: %s; if etcd has only N voters, %s; then, %s",
		strings.Join(start, " and "), policy.Cluster{Namespace: f.Namespace, Target: f.Target}.DeclareVoters("N"), f.How)
}

// wayToStart returns how all voters are started, as a clause. kubectl etcd scale starts the
// members of etcd-druid only: it finds no voter to ask.
func (f Facts) wayToStart() string {
	switch {
	case f.Moved:
		return f.way()
	case f.Creates && f.Sets == "":
		return fmt.Sprintf("create it with %s; if their data is not needed, delete their volume claims first; if etcd has fewer voters, "+
			"declare them in the manifest with the annotation kubectl-etcd.dev/size: \"%d at TIME\", with the time of now as in 2026-01-31T12:00:00Z",
			policy.Count(f.own(), "replica"), f.Asked)
	case f.Manager != "":
		return f.way()
	case f.Sets != "":
		return "to start all, set the replicas of each StatefulSet (" + f.Sets + ") to what they were"
	}
	command := "kubectl scale"
	if f.Druid {
		command = "kubectl etcd scale"
	}
	if own := f.own(); own < f.Voters {
		return fmt.Sprintf("to start all that have a replica here, run: %s %s -n %s --replicas %d; the others start with their own workloads", command, f.Target, f.Namespace, own)
	}
	return fmt.Sprintf("to start all, run: %s %s -n %s --replicas %d", command, f.Target, f.Namespace, f.Voters)
}

// wayToStartRecorded returns the same, and how as many voters as are asked for are recorded.
func (f Facts) wayToStartRecorded() string {
	if f.Moved || f.Creates {
		return f.wayToStart()
	}
	return f.wayToStart() + "; if etcd has fewer voters, declare them with the replicas: " + f.declaration()
}
