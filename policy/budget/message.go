// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// message returns a verdict's message: the object, the numbers, and what they mean for evictions.
func (t counts) message(c policy.Cluster, reason policy.Reason, target int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "etcd cluster %s/%s: ", c.Namespace, c.Name)
	if reason == SingleMember {
		fmt.Fprintf(&b, "size %d: minAvailable 0, because no budget can keep a single member available", t.n)
		return b.String()
	}
	if reason == ScaledToZero {
		fmt.Fprintf(&b, "size 0, and %d members before: minAvailable %d stays for the time when they start again", c.Hibernated, target)
		return b.String()
	}
	if reason == policy.SizeUnknown {
		fmt.Fprintf(&b, "1 member is known, and it is not known which others the cluster has (%s): minAvailable %d allows no eviction until the list of members is known; write it into the pod template (--initial-cluster); or, %s",
			c.SizeUnknown, target, c.DeclareListed())
		return b.String()
	}
	b.WriteString(t.state())
	fmt.Fprintf(&b, ", quorum is %d: minAvailable %d %s", t.quorum, target, consequence[reason])
	if reason == QuorumAtRisk {
		b.WriteString(c.OrRaised())
	}
	return b.String()
}

// consequence has for each row what its value allows, and until when.
var consequence = map[policy.Reason]string{
	policy.ClientTrafficCut: "allows no eviction until client traffic is restored, because a restarted member could not rejoin",
	policy.FactsStale:       "allows no eviction until a lease is renewed or the stale limit has passed",
	FactsStaleTooLong:       "allows evictions of unready pods only, because the stale limit has passed",
	policy.BackupFailing:    "allows no eviction until backups succeed or the hold limit has passed",
	BackupFailingTooLong:    "allows evictions down to the quorum, because the hold limit has passed; backups still fail",
	policy.AllReady:         "allows evictions down to the quorum",
	policy.MemberJoined:     "allows evictions down to a quorum without the members that joined a moment ago",
	RolloutUnderWay:         "allows no eviction while a rollout restarts the members",
	QuorumAtRisk:            "allows no eviction until more members and their pods are ready",
	policy.MemberDown:       "allows evictions of unready pods only",
	PodNotReady:             "allows no eviction until every pod is Ready or its member is known to be down",
	MemberNotReady:          "allows no eviction until the member is ready or its pod is known to be down",
	policy.ConditionFalse:   "allows no eviction until AllMembersReady is True again",
}

// state describes which members are ready and which are not.
func (t counts) state() string {
	s := fmt.Sprintf("%d of %d members ready", t.n-t.missing-len(t.notReady), t.n)
	var faults []string
	if len(t.notReady) > 0 {
		faults = append(faults, policy.Names(t.notReady, "is not", "are not")+t.nodesLost)
	}
	if t.missing > 0 {
		faults = append(faults, fmt.Sprintf("%d missing", t.missing))
	}
	if len(t.memberReadyPodNot) > 0 {
		faults = append(faults, policy.Names(t.memberReadyPodNot, "is ready but its pod is not", "are ready but their pods are not"))
	}
	if len(t.mayRun) > 0 {
		faults = append(faults, policy.Names(t.mayRun, "may run there, because its lease is renewed", "may run there, because their leases are renewed"))
	}
	if len(t.readyPodButNotMember) > 0 {
		faults = append(faults, policy.Names(t.readyPodButNotMember, "still has a Ready pod", "still have Ready pods"))
	}
	if len(faults) > 0 {
		s += " (" + strings.Join(faults, "; ") + ")"
	}
	if len(t.mayLearn) > 0 {
		s += ", " + policy.Names(t.mayLearn, "may be a learner", "may be learners")
	}
	if extra := t.readyLearners; extra > 0 {
		s += fmt.Sprintf(", %d Ready learner pods", extra)
	}
	if t.nonMemberPods > 0 {
		s += fmt.Sprintf(", %d other Ready pods under the budget", t.nonMemberPods)
	}
	return s
}

func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339) } //nolint:forbidigo // policy imports no other package; format.Time has the same layout

// notesOf returns what users should know.
func notesOf(f Facts, s Settings, t counts, c *clocks, r row) []policy.Note {
	var notes []policy.Note
	cluster := f.Cluster.Namespace + "/" + f.Cluster.Name
	note := func(reason policy.Reason, format string, args ...any) {
		notes = append(notes, policy.NewNote(reason, "etcd cluster %s: %s", cluster, fmt.Sprintf(format, args...)))
	}
	if r.reason == FactsStaleTooLong {
		note(FactsStaleTooLong, "the state of its members has been unknown since %s, longer than the limit of %s: unready pods may be evicted; find out why no lease is renewed", clockTime(c.state.StaleSince), policy.Duration(s.StaleLimit))
	}
	if r.reason == BackupFailingTooLong {
		note(BackupFailingTooLong, "backups have been failing since %s, longer than the limit of %s: evictions are possible again; repair the backups, because recent data is in none of them", clockTime(c.state.HoldSince), policy.Duration(s.BackupHoldLimit))
	}
	// While pods still go, their number would be wrong a moment later.
	if f.Cluster.Lost > 0 && f.Cluster.Operation == "" {
		have := t.n - t.missing
		note(VotersWithoutPods, "etcd may have %d voters, of which %d have pods: the workload was scaled in, and nothing shows that etcd removed the others. Compare with kubectl etcd member list %s. If etcd has %d voters, scale back to %d, and remove members from etcd before their pods. If it has %d, because an operator, a script or a user removed the others, %s",
			t.n, have, f.Cluster.TargetArgs(), t.n, t.n, have, f.Cluster.DeclareVoters(strconv.Itoa(have)))
	}
	if f.Cluster.Elsewhere > 0 {
		note(MembersElsewhere, "%d more members count as down. Either the members list them, and no StatefulSet that lists the members is known to run them. Or their StatefulSet lists the members, is not listed by them, and is not ready. To count them, %s; or, if nothing runs them and etcd has N voters, %s", f.Cluster.Elsewhere, policy.CountElsewhere, f.Cluster.DeclareVoters("N"))
	}
	if unknown := c.state.BackupUnknownSince; !unknown.IsZero() && !unknown.Add(BackupUnknownGrace).After(c.now) {
		note(policy.BackupUnknown, "it has been unknown since %s whether backups succeed; this blocks no eviction; check the backup store and the operator", clockTime(unknown))
	}
	if f.Cluster.Operation == "" && t.n == 2 {
		note(TwoMembers, "2 members tolerate no failure, so every drain of their nodes waits; scale to 3, or to 1")
	} else if even := policy.EvenSize(t.n, "members"); f.Cluster.Operation == "" && even != "" {
		note(EvenSize, "%s: scale to %d", even, t.n+1)
	}
	return notes
}
