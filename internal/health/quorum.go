// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// QuorumCheck is the ID of the check of the quorum itself.
const QuorumCheck = "Q001"

func quorumChecks() []Check {
	return []Check{
		{
			ID: QuorumCheck, Category: Quorum, Title: "a quorum of voters answers and follows one leader",
			Doc:  "More than half of the voters must answer and follow the same leader. Without that, nothing can be written or read consistently. If the plugin could not ask some members, the result is unknown, not failed.",
			Cure: "Find out why the pods of the named voters don't run, and bring them back. If workloads with voters were scaled in, the finding has the command that starts them again. Don't delete data or members, because an outage then becomes a loss of data.",
			run:  quorumAnswers, needs: NeedMembers,
		},
		{
			ID: "Q002", Category: Quorum, Title: "one more member may fail",
			Doc:  "The slack is the number of voters that can fail before quorum is lost. If the slack is 0, the next node drain, crash or slow disk causes an outage.",
			Cure: "Bring back the member that is down, or replace it. A cluster of one or two members has no slack by design. Scale it to three.",
			run:  quorumSlack, needs: NeedMembers,
		},
		{
			ID: "Q003", Category: Quorum, Title: "the number of voters is odd and at most seven",
			Doc:  "An even number of voters tolerates no more failures than the odd number below it, and makes every write wait for one more member. More than seven voters make writes slower without need.",
			Cure: "Scale to the next odd number, at most 7. If the number of voters differs from the number of replicas, read M001 to M004 first.",
			run:  oddSize, needs: NeedMembers,
		},
		{
			ID: "Q004", Category: Quorum, Title: "all members agree on the leader",
			Doc:  "Each member reports its leader. A member without a leader can't reach the others or is still starting. If two members report different leaders, an election is under way, or the network is partitioned.",
			Cure: "Run the check again after a few seconds. If the result stays, check the network between the members' nodes, and the peer Service.",
			run:  oneLeader, needs: NeedMembers,
		},
		{
			ID: "Q005", Category: Quorum, Title: "all members belong to one cluster",
			Doc:  "Members with different cluster IDs are different clusters behind one name: a member was bootstrapped again with an empty volume. Members with one cluster ID can be different clusters too, since --force-new-cluster keeps the ID: then two leaders each have a quorum, and the list of one lacks the other. A client then reads and writes the cluster that it reaches. If each pod lists itself alone and the pod template lists no other member, the pods are etcds of their own, which is a warning.",
			Cure: "If the pods are etcds of their own, and that is intended, declare it with kubectl-etcd.dev/etcd=false. Otherwise, save a snapshot of each cluster with --member. Compare the revisions and key counts, and decide which cluster is right. If clients write to both, cut client traffic while you decide. Then restore all members from the right snapshot: kubectl etcd snapshot restore FILE NAME.",
			run:  oneCluster, needs: NeedMembers,
		},
		{
			ID: "Q006", Category: Quorum, Title: "no member lags behind",
			Doc:  fmt.Sprintf("The check compares the raft index that each member has applied with the highest one of all members. If a member is %s or more entries behind, etcd refuses writes on that member, and the leader may have to send it a whole snapshot.", grouped(lagFail)),
			Cure: "Check the disk and the network of the member that lags. Don't defragment until it has caught up.",
			run:  raftLag, needs: NeedMembers,
		},
		{
			ID: "Q007", Category: Quorum, Title: "the leader is steady",
			Doc:  "The check counts how often each member has seen the leader change since the member started. Every change stops writes for about a second. Slow disks, starved CPUs or a slow network cause frequent changes.",
			Cure: "Check D009 (disk latency), W004 (CPU requests) and the round trip between nodes before you raise the election timeout.",
			run:  steadyLeader, needs: NeedMembers | NeedMetrics,
		},
	}
}

func quorumAnswers(f *Facts) []Finding {
	if f.Survey.Err != nil {
		return append([]Finding{notAsked(unanswered("the members could not be asked", f.Survey.Err))}, f.notAskedMembers()...)
	}
	if len(f.Survey.Value.Members) == 0 && f.Size() == 0 {
		return notApplicable("the cluster is scaled to 0")
	}
	v := f.voters()
	numbers := fmt.Sprintf("%d of %d voters answer and follow one leader, quorum is %d", len(v.following), v.total, v.quorum())
	var found []Finding
	switch kept := len(v.following) >= v.quorum(); {
	case kept:
		found = ok("%s", numbers)
	case len(v.following)+v.unknown() >= v.quorum():
		found = []Finding{notAsked(Finding{Level: Unknown, Message: numbers + "; " + v.couldNotBeAsked(), Fix: v.oneCluster()})}
	case f.onlyUnreachable():
		found = []Finding{f.unreachable()}
	case v.ledElsewhere():
		found = []Finding{{Level: Warning, Message: numbers + fmt.Sprintf(": the others can't be reached from here, but the leader %016x is one of them", v.leader), Fix: f.describePods(v.noAnswer), Reason: policy.MemberDown}}
	case f.LastVoters > f.Size() && f.returns(f.LastVoters):
		found = []Finding{failure(f.kubectl("scale", "statefulset/"+f.Owner.StatefulSet, fmt.Sprintf("--replicas %d", f.LastVoters)),
			"the quorum is lost and nothing can be written: %s, and the StatefulSet has %s", numbers, policy.Plural(f.Size(), "replica", "replicas"))}
	case len(f.waysBack()) > 0:
		ways := f.waysBack()
		found = []Finding{failure(f.startAgain(ways), "the quorum is lost and nothing can be written: %s, and %d of them ran in %s before a scale-in", numbers, votersOf(ways), policy.List(workloadsOf(ways)))}
	default:
		found = []Finding{failure(f.describePods(v.noAnswer), "the quorum is lost and nothing can be written: %s", numbers)}
	}
	found = append(found, f.notAskedMembers()...)
	outsiders := f.Survey.Value.NonMemberPods()
	for _, m := range v.noAnswer {
		if slices.Contains(outsiders, m.Pod) {
			continue // no voter: M002 reports it
		}
		found = append(found, f.noAnswer(m, found[0].Level == OK))
	}
	return found
}

// noAnswer returns the finding about a member that doesn't answer. Where the first finding
// names all of them, it has no fix of its own.
func (f *Facts) noAnswer(m etcd.Member, ownFix bool) Finding {
	if f.onlyUnreachable() && f.readyInKubernetes(m.Pod) {
		return notAsked(about(Unknown, m.Pod, "", "%s", etcd.Reason(m.Err)))
	}
	fix, why := "", etcd.Reason(m.Err)
	if ownFix {
		fix = f.describePods([]etcd.Member{m})
	}
	if fatal := f.FatalLogs[m.Pod]; fatal != "" {
		why += "; its log ends with: " + fatal
		if ownFix {
			fix = f.replace(m.Pod)
		}
	} else if last := f.LastLines[m.Pod]; last != "" {
		why += fmt.Sprintf("; the last line of its log: %q", last)
	}
	one := about(Failure, m.Pod, fix, "%s", why)
	one.Reason = policy.MemberDown
	return one
}

// couldNotBeAsked names the voters of which it is not known whether they are healthy.
func (v voters) couldNotBeAsked() string {
	var parts []string
	if len(v.elsewhere) > 0 {
		parts = append(parts, policy.List(v.elsewhere)+" may run elsewhere, and it is not known here whether the leader is in contact with them")
	}
	if v.unmatched > 0 {
		parts = append(parts, fmt.Sprintf("the lists of its pods name %d more, and it is not known whether anything runs them", v.unmatched))
	}
	if len(v.notAsked) > 0 {
		parts = append(parts, policy.List(pods(v.notAsked))+" could not be asked")
	}
	return strings.Join(parts, "; ")
}

// joinLists is how members that other workloads run become part of the cluster.
const joinLists = "name all members in the lists of all (--initial-cluster), so that they are one cluster here"

// oneCluster returns how to join the lists of members if some may run elsewhere, and otherwise nothing.
func (v voters) oneCluster() string {
	if len(v.elsewhere) == 0 {
		return ""
	}
	return joinLists
}

// notAskedMembers judges by Kubernetes the members that could not be asked.
func (f *Facts) notAskedMembers() []Finding {
	var found []Finding
	if err := f.evidence(); err != nil && len(f.Responding()) == 0 {
		found = append(found, notAsked(unknown("Kubernetes does not show whether they are healthy either", err)))
	}
	names := pods(f.voters().notAsked)
	if f.Survey.Err != nil {
		names = nil
		for _, m := range f.Cluster.Value.Cluster.Members {
			names = append(names, m.Pod)
		}
	}
	for _, name := range names {
		switch lost := f.nodeLost(name); {
		case lost != "":
			found = append(found, down(name, lost))
		case f.leaseExpired(name) && f.Owner.Product().RenewsLeases:
			found = append(found, down(name, "its pod is Ready and its lease is not renewed"))
		case f.leaseExpired(name):
			found = append(found, down(name, "its pod has not been Ready for long enough"))
		case f.Survey.Err == nil:
			found = append(found, notAsked(f.couldNotBeAsked(name)))
		}
	}
	return found
}

func (f *Facts) couldNotBeAsked(pod string) Finding {
	i := slices.IndexFunc(f.Survey.Value.Members, func(m etcd.Member) bool { return m.Pod == pod })
	why := unanswered(pod+": could not be asked", f.Survey.Value.Members[i].Err)
	why.Member = pod
	return why
}

func down(member, why string) Finding {
	one := about(Failure, member, "", "%s", why)
	one.Reason = policy.MemberDown
	return one
}

// notAsked gives a finding the reason of what could not be asked.
func notAsked(f Finding) Finding {
	f.Reason = reasons.MemberNotAsked
	return f
}

// describePods returns the command that shows why members don't run.
func (f *Facts) describePods(members []etcd.Member) string {
	switch {
	case len(members) == 0:
		return f.Command("status")
	case len(members) == 1 && f.pod(members[0].Pod) != nil:
		return f.describe(f.pod(members[0].Pod))
	}
	return f.kubectl("describe pod " + strings.Join(pods(members), " "))
}

func quorumSlack(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	v := f.voters()
	switch slack := v.slack(); {
	case slack > 0:
		return ok("%s may fail", policy.Plural(slack, "voter", "voters"))
	case v.total <= 1:
		return []Finding{info(f.grow(3), "one member: every restart of it is an outage")}
	case v.total == 2 && len(v.following) == 2:
		return []Finding{warning(f.grow(3), "none of the 2 voters may fail")}
	case slack+v.unknown() > 0:
		return []Finding{{Level: Unknown, Message: v.couldNotBeAsked(), Fix: v.oneCluster()}}
	case slack+v.unknown() == 0 && v.unknown() > 0:
		return []Finding{{Level: Unknown, Message: "at best, no voter may fail; " + v.couldNotBeAsked(), Fix: v.oneCluster()}}
	case slack == 0:
		return []Finding{failure(f.describePods(v.noAnswer), "%d of %d voters are healthy and quorum is %d: the next failure stops all writes", len(v.following), v.total, v.quorum())}
	}
	if v.ledElsewhere() {
		return []Finding{{Level: Unknown, Message: "most voters can't be reached from here"}}
	}
	return []Finding{failure(f.describePods(v.noAnswer), "quorum is lost already")}
}

// grow returns how to scale if pods and members agree. Otherwise the checks on members come first: they
// show which member has no pod, and which pod is no member.
func (f *Facts) grow(n int) string {
	if f.voters().total != f.Desired() {
		return f.Command("check", "--only members")
	}
	if w := f.Owner.Membership(); !w.ByPlugin && w.Manager != flavour.Unmanaged {
		return f.scaleTo(n)
	}
	return f.onceReady(f.scaleTo(n))
}

// placeholderN is what stands for the number of members in the instructions of package flavour.
var placeholderN = regexp.MustCompile(`\bN\b`)

// scaleTo returns how a cluster gets so many members.
func (f *Facts) scaleTo(n int) string {
	if w := f.Owner.Membership(); !w.ByPlugin && w.Manager != flavour.Unmanaged {
		return instruction("to scale", placeholderN.ReplaceAllString(w.ScaleHow, fmt.Sprint(n)))
	}
	return f.Command("scale", fmt.Sprintf("--replicas %d", n))
}

func oddSize(f *Facts) []Finding {
	n := f.voters().total
	if !f.listKnown() { // a record may be of more than there are
		n = max(f.Size(), f.LastVoters)
	}
	even := policy.EvenSize(n, "voters")
	switch {
	case n == 0:
		return notApplicable("the cluster has no members")
	case even != "" && f.operation() != "":
		return []Finding{info("", "%d voters for now: %s", n, f.operation())}
	case n > policy.AdvisedMembers:
		return []Finding{warning(f.grow(policy.AdvisedMembers), "%d voters: every write waits for %d of them", n, policy.Quorum(n))}
	case n == 2:
		two := warning(f.grow(3), "2 voters tolerate no failure")
		two.Reason = budget.TwoMembers
		return []Finding{two}
	case even != "":
		return []Finding{warning(f.grow(n+1), "%s", even)}
	}
	return ok("%d", n)
}
