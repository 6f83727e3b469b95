// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

func memberChecks() []Check {
	return []Check{
		{
			ID: "M001", Category: Members, Title: "every member has a pod",
			Doc:  "etcd's member list has a voter that no pod of the cluster runs, and the quorum counts this voter. If a StatefulSet is scaled in and the member is not removed, the member is left behind. It is dead only if the leader has no connection with it and no other pod of the namespace has its name or address.",
			Cure: "If the member is dead, remove it from etcd, unless its pod is about to come back. If it is not dead, find the pod that runs it.",
			run:  membersHavePods, needs: NeedMembers,
		},
		{
			ID: "M002", Category: Members, Title: "every pod is a member",
			Doc:  "If a pod's etcd is not in the member list, it was removed from the list, has never joined, or belongs to another cluster. The check proposes to replace it only if its log shows that its data is of no use.",
			Cure: "Replace the member. If an operator or a start script manages the members, delete the pod's claim and then the pod.",
			run:  podsAreMembers, needs: NeedMembers,
		},
		{
			ID: "M003", Category: Members, Title: "no learner is left over",
			Doc:  "A learner copies the data and has no vote. A learner that is not promoted is left over from a scale or a replacement that stopped halfway. Until it is promoted or removed, etcd accepts no second learner.",
			Cure: "After it has caught up, promote it. If the cluster doesn't need it, remove it.",
			run:  learners, needs: NeedMembers,
		},
		{
			ID: "M004", Category: Members, Title: "every member has started once",
			Doc:  "A member without a name was added and never started. If it is a voter, it already counts for quorum.",
			Cure: "Start its pod, or remove the member.",
			run:  membersStarted, needs: NeedMembers,
		},
		{
			ID: "M005", Category: Members, Title: "peer addresses outlive a pod",
			Doc:  "Members find each other by the peer URLs in the member list. A loopback address can't be reached by other members, and a pod that is created again may have another IP. The check finds nothing if the address is not the pod's own, for example the IP of a Service.",
			Cure: "Give every member an --initial-advertise-peer-urls with its name under the headless Service, or with a Service for this member alone. A member that already runs also needs a member update. Never update a learner.",
			run:  peerAddresses, needs: NeedMembers,
		},
		{
			ID: "M006", Category: Members, Title: "every pod exists and is Ready",
			Doc:  "The check reads the state of the members' pods in Kubernetes: whether each pod is created, scheduled, running and Ready.",
			Cure: "Read the pod's events and the log of the previous process. Don't change data or members until you know the cause.",
			run:  podsReady,
		},
		{
			ID: "M007", Category: Members, Title: "members don't restart",
			Doc:  "If a container keeps restarting, each restart of the leader costs an election. Restarts often announce an outage. Possible causes are too little memory, a wrong probe, or a full disk.",
			Cure: "Read the log of the previous process. If the reason is OOMKilled, give the container more memory. If it ended after a failed probe, read W001.",
			run:  restarts,
		},
		{
			ID: "M008", Category: Members, Title: "Kubernetes shows all that is needed to judge the members",
			Doc:  "Disruption budgets and metrics judge members and backups by the objects of Kubernetes. The check reports what these objects don't show. The lease of a member that is gone counts as a dead member. A pod without a readiness probe counts as ready too early. One annotation of a backup lease without the other shows nothing.",
			Cure: "Follow the advice in the finding.",
			run:  factsComplete,
		},
		{
			ID: "M009", Category: Members, Title: "each member's peer URL leads to its pod",
			Doc:  "Members connect to each other by the peer URLs in etcd's member list, and etcd ignores --initial-advertise-peer-urls of a member with data. If the list has a wrong URL for a member, nothing shows this while the connections exist. After a restart, the others can't connect to the member by it. The check compares the list with the URLs that each pod advertises. It finds nothing if a Service, a load balancer or a name outside of the cluster is between the members, or if a script assembles the URL. If a member has several URLs, one that leads to its pod is enough.",
			Cure: "Set the URL in etcd's list to the one that the pod advertises, with etcdctl member update or through the program that manages the members. Never update a learner.",
			run:  peerURLsLead, needs: NeedMembers,
		},
	}
}

// listed guards a check that judges the member list.
func (f *Facts) listed() ([]Finding, bool) {
	if found, reachable := f.membersReachable(); !reachable {
		return found, false
	}
	if err := f.Survey.Value.ListErr; err != nil {
		why := unknown("no member gave the member list", err)
		why.repeated = true
		return []Finding{why}, false
	}
	return nil, true
}

// called returns the name of a member of the list, or its ID where it never had a name.
func called(l etcd.Listed) string {
	return cmp.Or(l.Name, id(l))
}

// id returns the ID of a member of the list as commands take it. A name may be that of two members, and is
// free text of those who run the member.
func id(l etcd.Listed) string { return etcd.HexID(l.ID) }

func membersHavePods(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		if l.Pod != "" || l.Name == "" {
			continue // M004 reports those that never had a name
		}
		report, what := failure, "voter"
		if l.Learner {
			report, what = warning, "learner"
		}
		if f.operation() != "" {
			report = warning
		}
		found = append(found, f.withoutPod(l, report, fmt.Sprintf("%s %s (%016x) is in the member list and no pod", what, l.Name, l.ID)))
	}
	if len(found) > 0 {
		return found
	}
	return ok("%s", policy.Count(len(f.Survey.Value.List), "member"))
}

// withoutPod returns the finding about a member of the list that no pod of the cluster runs. It is
// only called dead where etcd's leader has lost it, and no other pod can be it.
func (f *Facts) withoutPod(l etcd.Listed, report func(fix, format string, args ...any) Finding, what string) Finding {
	urls := strings.Join(l.PeerURLs, ",")
	v := membership.IsDead(f.Silences[l.ID])
	if v.Allowed || l.DuePod(f.Owner, f.Survey.Value.List) != "" {
		return report(f.toRemove(l), "%s runs it: %s", what, urls)
	}
	if v.Reason == membership.VoterAlive {
		report = warning
	}
	if f.mayRunElsewhere(l, f.Survey.Value.Followed()) && !l.Learner {
		return notAsked(Finding{Level: Unknown, Message: fmt.Sprintf("%s of this cluster runs it (%s); %s", what, urls, v.Message), Fix: f.toRemove(l)})
	}
	found := report(f.toRemove(l), "%s of this cluster runs it (%s); %s", what, urls, v.Message)
	found.Reason = v.Reason
	return found
}

func podsAreMembers(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	outsiders := f.Survey.Value.NonMemberPods()
	for _, m := range f.Survey.Value.Members {
		// A member that answers and still has an error is not the one in the list.
		if m.Err == nil || m.ID == 0 || slices.Contains(outsiders, m.Pod) {
			continue
		}
		fix := f.replace(m.Pod)
		if f.Survey.Value.IsAhead(m) { // no command may replace it
			fix = f.Command("diagnose")
		}
		found = append(found, about(Failure, m.Pod, fix, "%s", etcd.Reason(m.Err)))
	}
	for _, pod := range outsiders {
		found = append(found, f.nonMember(pod))
	}
	return found
}

// nonMember returns the finding about a pod whose etcd is in no member list.
func (f *Facts) nonMember(pod string) Finding {
	switch {
	case f.operation() != "":
		return about(Info, pod, "", "is not a member now: %s", f.operation())
	case f.Owner.Membership().Manager != flavour.Unmanaged:
		return about(Warning, pod, f.kubectl("describe pod", pod), "is not a member: it was removed, or has not joined yet")
	}
	if f.FatalLogs[pod] == "" {
		return about(Failure, pod, f.kubectl("describe pod", pod), "etcd's member list doesn't have it, and it does not answer: it was removed, has never joined, or belongs to another cluster")
	}
	return about(Failure, pod, f.replace(pod), "is not a member: it was removed from etcd, or never joined; its log ends with: %s", f.FatalLogs[pod])
}

func learners(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		switch {
		case !l.Learner:
		case f.operation() != "":
			found = append(found, about(Info, called(l), "", "is a learner: %s", f.operation()))
		case f.Cluster.Err != nil:
			found = append(found, unknown(called(l)+": is a learner, and it is not known whether an operation is under way that promotes it", f.Cluster.Err))
		case l.Pod == "":
			found = append(found, about(Warning, called(l), f.toRemove(l), "is a learner that no pod of this cluster runs"))
		case f.Owner.Product().BackupRestore:
			found = append(found, about(Warning, called(l), f.kubectl("logs "+l.Pod+" -c backup-restore"), "is a learner, which has no vote, and its sidecar has not promoted it"))
		default:
			found = append(found, about(Warning, called(l), f.promote(l), "is a learner, which has no vote, and no operation is under way that promotes it"))
		}
	}
	return found
}

func membersStarted(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		if l.Name != "" {
			continue
		}
		report := failure
		if l.Learner || f.operation() != "" {
			report = warning
		}
		found = append(found, report(f.toRemove(l), "member %016x (%s) was added and has never started", l.ID, strings.Join(l.PeerURLs, ",")))
	}
	return found
}

// factsComplete reports what observe noted while it read the cluster.
func factsComplete(f *Facts) []Finding {
	if f.Cluster.Err != nil {
		return []Finding{unknown("the cluster's objects", f.Cluster.Err)}
	}
	var found []Finding
	for _, n := range f.Cluster.Value.Notes {
		if n.Reason == policy.SizeUnknown && f.Owner.WithoutStatefulSet() && f.listKnown() {
			continue // etcd has its own list, and no guard needs it
		}
		fix := ""
		switch {
		case n.Reason == policy.SizeUnknown && f.listKnown():
			fix = f.declare(f.voters().total)
		case n.Reason == reasons.NoReadinessProbe:
			fix = f.changeTemplate("add a readiness probe on etcd's /readyz", "")
		}
		one := warning(fix, "%s", n.Message)
		one.Reason = n.Reason
		found = append(found, one)
	}
	return found
}
