// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

func memberChecks() []Check {
	return []Check{
		{
			ID: "M001", Category: Members, Title: "every member has a pod",
			Doc:  "A voter in etcd's member list without a pod counts as dead for ever: quorum is computed with it. A StatefulSet that was scaled in without removing the member leaves one behind.",
			Cure: "Remove the member from etcd, unless its pod is about to come back.",
			run:  membersHavePods, needs: needMembers,
		},
		{
			ID: "M002", Category: Members, Title: "every pod is a member",
			Doc:  "A pod whose etcd is not in the member list was removed, or never joined. It serves nobody.",
			Cure: "Replace the member; where an operator or a start script manages the members, delete the pod's claim and then the pod.",
			run:  podsAreMembers, needs: needMembers,
		},
		{
			ID: "M003", Category: Members, Title: "no learner is left over",
			Doc:  "A learner copies the data and has no vote. One that nobody promotes is the rest of a scale or replacement that stopped half-way; etcd takes no second one meanwhile.",
			Cure: "Promote it once it has caught up, or remove it.",
			run:  learners, needs: needMembers,
		},
		{
			ID: "M004", Category: Members, Title: "every member has started once",
			Doc:  "A member without a name was added and never started. As a voter it counts for quorum already.",
			Cure: "Start its pod, or remove the member.",
			run:  membersStarted, needs: needMembers,
		},
		{
			ID: "M005", Category: Members, Title: "peer addresses outlive a pod",
			Doc:  "Members find each other by the peer URLs in the member list. A loopback address can be reached by nobody else, a pod's IP changes when the pod is made anew.",
			Cure: "Give every member an --initial-advertise-peer-urls with its name under the headless Service. A member that runs needs a member update as well, never a learner.",
			run:  peerAddresses, needs: needMembers,
		},
		{
			ID: "M006", Category: Members, Title: "every pod is there and Ready",
			Doc:  "The members' pods as Kubernetes sees them: made, scheduled, running, Ready.",
			Cure: "Look at the pod's events and at the log of the process before. Data and membership are better left alone until the reason is known.",
			run:  podsReady,
		},
		{
			ID: "M007", Category: Members, Title: "members don't restart",
			Doc:  "A container that keeps restarting costs an election each time it led, and shows what will become an outage: too little memory, a probe that is wrong, a full disk.",
			Cure: "Read the log of the process before. OOMKilled asks for more memory, an exit after a probe's failure for W001.",
			run:  restarts,
		},
	}
}

// listed guards a check that judges the member list.
func (f *Facts) listed() ([]Finding, bool) {
	if found, asked := f.asked(); !asked {
		return found, false
	}
	if err := f.Survey.Value.ListErr; err != nil {
		return []Finding{unknown("no member gave the member list", err)}, false
	}
	return nil, true
}

// called is how a person names a member of the list: by name, or by ID where
// it never had one.
func called(l etcd.Listed) string {
	if l.Name == "" {
		return fmt.Sprintf("%016x", l.ID)
	}
	return l.Name
}

func membersHavePods(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		if l.Pod != "" || l.Name == "" {
			continue // M004 speaks of those that never had a name
		}
		say, what := failure, "voter"
		if l.Learner {
			say, what = warning, "learner"
		}
		if f.operation() != "" {
			say = warning
		}
		found = append(found, say(f.toRemove(l), "%s %s (%016x) has no pod and counts among the members: %s", what, l.Name, l.ID, strings.Join(l.PeerURLs, ",")))
	}
	if len(found) > 0 {
		return found
	}
	return ok("%s", plural(len(f.Survey.Value.List), "member", "members"))
}

// toRemove is the command that takes a member out of etcd, or what to look at where
// that would be refused: its pod is due, or somebody else's to look after.
func (f *Facts) toRemove(l etcd.Listed) string {
	switch {
	case l.DuePod(f.Owner) != "":
		return f.kubectl("describe", "statefulset", f.Owner.StatefulSet)
	case l.Pod != "" && f.Owner.Membership().Manager != flavour.Unmanaged:
		return f.kubectl("describe", "pod", l.Pod)
	}
	return f.cmd("member remove", called(l))
}

func podsAreMembers(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	outsiders := f.Survey.Value.Outsiders()
	for _, m := range f.Survey.Value.Members {
		// One that answers and still has an error is not whom the list expects.
		if m.Err == nil || m.ID == 0 || slices.Contains(outsiders, m.Pod) {
			continue
		}
		found = append(found, failure(f.replace(m.Pod), "%s: %s", m.Pod, etcd.Reason(m.Err)))
	}
	for _, pod := range outsiders {
		found = append(found, f.outsider(pod))
	}
	return found
}

// outsider is a pod whose etcd is on nobody's list: it was removed, or has not joined yet.
func (f *Facts) outsider(pod string) Finding {
	switch {
	case f.operation() != "":
		return info("", "%s is no member now: %s", pod, f.operation())
	case f.Owner.Membership().Manager != flavour.Unmanaged:
		return warning(f.kubectl("describe pod", pod), "%s is no member: it was removed, or has not joined yet", pod)
	}
	return failure(f.replace(pod), "%s is no member: it was removed from etcd, or never joined", pod)
}

// replace is how to give a pod a new member: by whoever manages the members, if anybody
// does.
func (f *Facts) replace(pod string, flags ...string) string {
	if w := f.Owner.Membership(); w.ReplaceHow != "" && f.Owner.Flavour != observe.Druid {
		return w.ReplaceHow
	}
	return f.cmd("member replace", append([]string{pod}, flags...)...)
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
			found = append(found, info("", "%s is a learner: %s", called(l), f.operation()))
		case f.Cluster.Err != nil:
			found = append(found, unknown(called(l)+" is a learner, and whether anything is under way that promotes it is not known", f.Cluster.Err))
		case l.Pod == "":
			found = append(found, warning(f.toRemove(l), "%s is a learner that no pod runs", called(l)))
		case f.Owner.Flavour == observe.Druid:
			// backup-restore promotes its learners itself.
			found = append(found, warning(f.kubectl("logs "+l.Pod+" -c backup-restore"), "%s is a learner and its sidecar has not promoted it", called(l)))
		default:
			found = append(found, warning(f.cmd("member promote", called(l)), "%s is a learner and nothing is under way that would promote it", called(l)))
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
		say := failure
		if l.Learner || f.operation() != "" {
			say = warning
		}
		found = append(found, say(f.toRemove(l), "member %016x (%s) was added and has never started", l.ID, strings.Join(l.PeerURLs, ",")))
	}
	return found
}

func peerAddresses(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		for _, address := range l.PeerURLs {
			u, err := url.Parse(address)
			if err != nil {
				continue
			}
			ip := net.ParseIP(u.Hostname())
			fix := "make the member known by the pod's name under the headless Service: " + f.change("set --initial-advertise-peer-urls", "")
			switch {
			case u.Hostname() == "localhost" || ip.IsLoopback():
				found = append(found, warning(fix, "%s is known to the others as %s: no second member can reach it", called(l), address))
			case ip != nil && len(f.Survey.Value.List) > 1 && !f.keepsIP(l.Pod):
				found = append(found, warning(fix, "%s is known to the others as %s: a pod made anew has another IP", called(l), address))
			}
		}
	}
	return found
}

// keepsIP says whether a pod has its node's IP, and never leaves that node.
func (f *Facts) keepsIP(name string) bool {
	pod := f.pod(name)
	return pod != nil && pod.Spec.HostNetwork && static(pod)
}

func podsReady(f *Facts) []Finding {
	if f.Pods.Err != nil {
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	if f.size() == 0 && len(f.Pods.Value) == 0 {
		return notApplicable("the cluster is scaled to 0")
	}
	var found []Finding
	for _, pod := range f.Pods.Value {
		if !observe.PodReady(pod) {
			found = append(found, failure(f.kubectl("describe pod "+pod.Name), "%s is %s", pod.Name, plight(pod)))
		}
	}
	if missing := f.size() - len(f.Pods.Value); missing > 0 {
		found = append(found, failure(f.kubectl("describe statefulset "+f.Owner.StatefulSet), "%d of %d pods are not there", missing, f.size()))
	}
	if len(found) > 0 {
		return found
	}
	return ok("%d of %d", len(f.Pods.Value), max(f.size(), len(f.Pods.Value)))
}

// plight says why a pod is not Ready, as far as its status tells.
func plight(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "going away"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "not scheduled: " + c.Message
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			return fmt.Sprintf("not Ready: container %s is in %s (%s)", s.Name, s.State.Waiting.Reason, plural(int(s.RestartCount), "restart", "restarts"))
		case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
			return fmt.Sprintf("not Ready: container %s ended with %d (%s)", s.Name, s.State.Terminated.ExitCode, s.State.Terminated.Reason)
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if !s.Ready {
			return fmt.Sprintf("not Ready: container %s runs and its readiness probe fails", s.Name)
		}
	}
	return fmt.Sprintf("not Ready (%s)", pod.Status.Phase)
}

// What restarts are too many: so many, the last of them within an hour.
const (
	manyRestarts = 3
	lately       = time.Hour
)

func restarts(f *Facts) []Finding {
	if f.Pods.Err != nil {
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	var found []Finding
	for _, pod := range f.Pods.Value {
		for _, s := range pod.Status.ContainerStatuses {
			last := s.LastTerminationState.Terminated
			if last == nil || s.RestartCount < manyRestarts || f.At.Sub(last.FinishedAt.Time) > lately {
				continue
			}
			found = append(found, warning(f.kubectl("logs "+pod.Name+" -c "+s.Name+" --previous"),
				"container %s of %s was started %d times over, the last time %s ago after %s (exit code %d)",
				s.Name, pod.Name, s.RestartCount, ago(f.At.Sub(last.FinishedAt.Time)), or(last.Reason, "an end"), last.ExitCode))
		}
	}
	return found
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
