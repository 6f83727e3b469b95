// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// way returns how the number of members is changed after a write that was refused, as a clause. What must be so
// before its commands are accepted comes first.
func (f Facts) way() string { return f.wayFrom(f.Now) }

// wayFrom returns what way returns, for a cluster that has so many replicas when its commands are used: those before the write, or those
// after it if the write passes.
func (f Facts) wayFrom(replicas int) string {
	switch {
	case f.Moved:
		return fmt.Sprintf("leave spec.ordinals.start at %d, where the pods and volume claims of the members are", f.First)
	case f.Creates && f.Adder == "":
		return f.wayToCreate()
	case f.Manager != "":
		return f.keepsClaims() + f.Manager + " changes the members: " + f.How
	case f.Adder != "":
		return f.Adder + " removes no members: " + f.How
	case f.Elsewhere > 0:
		return f.wayElsewhere()
	case f.Sets != "":
		return f.wayOfSets()
	case f.How != "" && f.Asked < f.Now:
		return f.keepsClaims() + f.readyFirst() + f.How + "; if etcd has fewer voters, declare them with the replicas: " + f.declaration(f.Asked)
	case f.How != "":
		return f.How
	}
	return f.wayOfPlugin(replicas) + f.orDeclare()
}

// orDeclare returns the way back after a write of more replicas than etcd got voters, as the end of a sentence: the new
// pods never become ready, and nothing shows that they are no voters.
func (f Facts) orDeclare() string {
	if f.Asked == 0 || f.Asked >= min(f.Now, f.Voters) || f.Ready-f.Unsure >= f.Now || f.Operator != "" || f.Others > 0 {
		return ""
	}
	return "; if etcd has fewer voters, declare them with the replicas: " + f.declaration(f.Asked)
}

// wayOfPlugin returns how kubectl etcd scale changes the members of a StatefulSet that nothing else manages. It
// refuses while replicas and voters differ in number, and while a voter is not ready.
func (f Facts) wayOfPlugin(replicas int) string {
	command := f.scaleCommand()
	switch {
	case replicas < f.own() && f.hasAllData():
		return fmt.Sprintf("first bring the other voters back: %s; then, once all are ready, use %sN", f.bringBack(), command)
	case replicas < f.own():
		return fmt.Sprintf("first remove from etcd the voters without a replica whose volumes are gone: kubectl etcd check %s --only M001 prints the command for each one that is dead; then use %sN", f.args(), command)
	case f.Others > 0:
		return fmt.Sprintf("its lists name %s that no StatefulSet of the cluster has; instead use %sN: if other workloads run them, it prints how members are added and removed",
			policy.Count(f.Others, "member"), command)
	case replicas > f.Voters:
		return fmt.Sprintf("first set the replicas to the number of voters: %s; then, once all are ready, %s", f.declaration(f.Voters), f.useOrRun(command))
	}
	return cmp.Or(f.readyFirst(), "instead ") + f.useOrRun(command)
}

// own returns how many of the voters may have a replica of the cluster: not those of other workloads, but each that has
// a volume claim.
func (f Facts) own() int { return max(f.Voters-f.Others, min(f.Held, f.Voters), min(1, f.Voters)) }

// useOrRun returns the command to the size that was asked for, or with an N where kubectl etcd scale refuses that size.
func (f Facts) useOrRun(command string) string {
	if f.Asked%2 == 0 || f.Asked > policy.MaxScale {
		return fmt.Sprintf("use %sN, with an odd N up to %d", command, policy.MaxScale)
	}
	return fmt.Sprintf("run: %s%d", command, f.Asked)
}

// readyFirst returns that all voters must be ready first, as the beginning of a sentence. It is empty if they are.
func (f Facts) readyFirst() string {
	switch {
	case f.Sets == "" && f.Now < f.own():
		return fmt.Sprintf("first bring the other voters back: %s; then, once all are ready, ", f.bringBack())
	case f.Ready-f.Unsure >= f.Voters && f.Staying >= f.Keeping:
		return ""
	}
	return fmt.Sprintf("first wait until all %s are ready, or repair those that are not: kubectl etcd diagnose %s shows how; then, ", policy.Count(f.Voters, "voter"), f.args())
}

// hasAllData reports whether the voters without a replica have their data, so that they come back with one.
func (f Facts) hasAllData() bool { return f.Volumes != NoClaims && f.Held >= f.own() }

// bringBack returns how all voters get a replica, as a command or a clause.
func (f Facts) bringBack() string {
	if f.Operator != "" {
		return fmt.Sprintf("set the number of members to %d in the object from which %s takes it", f.own(), f.Operator)
	}
	return fmt.Sprintf("kubectl scale %s --replicas %d", f.args(), f.own())
}

// keepsClaims returns what keeps the claims of replicas that go, as the beginning of a sentence. It is for ways that
// remove a replica by a write like the refused one. It is empty if the claims stay.
func (f Facts) keepsClaims() string {
	if f.Volumes != Deleted || f.Manager != "" && !f.Script {
		return ""
	}
	set := f.Target
	if f.Marked != "" {
		set = "statefulset/" + f.Marked
	}
	return fmt.Sprintf(`first keep the claims: kubectl patch %s -n %s --type merge -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain"}}}'; then, `, set, f.Namespace)
}

// args returns the arguments by which a command names the cluster.
func (f Facts) args() string { return f.Target + " -n " + f.Namespace }

// scaleCommand returns the command that changes the number of members, up to that number.
func (f Facts) scaleCommand() string { return "kubectl etcd scale " + f.args() + " --replicas " }

// declaration returns the command that sets the replicas and declares that etcd has as many voters.
func (f Facts) declaration(n int) string {
	return policy.Cluster{Namespace: f.Namespace, Target: f.Target}.DeclareReplicas(strconv.Itoa(n))
}
