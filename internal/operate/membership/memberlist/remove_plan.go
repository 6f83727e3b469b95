// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Plan finds the member with an ID, a name or a pod, and returns it with the plan to remove it. The
// error is a *RefusedError if it must not be removed.
func (r Removal) Plan(ctx context.Context, word string) (etcd.Listed, operate.Plan, error) {
	s, err := SurveyQuorum(ctx, r.Members, r.Owner, "remove "+word)
	if err != nil {
		return etcd.Listed{}, operate.Plan{}, err
	}
	l, err := findMember(s, word)
	if err != nil {
		return l, operate.Plan{}, err
	}
	if r.Idle != nil {
		if err := r.Idle(ctx, l, len(s.List)); err != nil {
			return l, operate.Plan{}, err
		}
	}
	v, silence, err := r.judge(ctx, s, l)
	if err != nil {
		return l, operate.Plan{}, err
	}
	what := "remove " + l.NameAndID()
	plan := operate.Plan{
		Title: what + " from etcd", Subject: subject(s),
		Facts: []string{"peer URL " + peerOf(r, s, l).URL, v.Message}, Steps: []string{"remove it from etcd's member list"},
	}
	if r.Lost && silence.Declarable() {
		plan.Passing = append(plan.Passing, operate.Passingf("It is declared to be lost. If it still runs elsewhere, it can't rejoin: %s.", silence.Unknown))
	}
	if why := silence.VolumesUnread; why != "" {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("It is not known whether %s may have earlier data than the members that answer (%s). Copy its data directory first.", l.NameAndID(), why))
	}
	cluster, err := r.Reader.Cluster(ctx, r.Owner)
	switch {
	case apierrors.IsForbidden(err): // a user with few permissions may still have to save a quorum
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("You may not read the cluster's Kubernetes objects (%v), so the decision is based on the members alone.", err))
	case err != nil:
		return l, plan, err
	default:
		if v := policy.Precondition(cluster, l.NameAndID()); !v.Allowed {
			return l, plan, &operate.RefusedError{What: what, Why: []string{v.Message}}
		}
	}
	if pod := cmp.Or(l.Pod, l.DuePod(r.Owner, s.List)); pod != "" {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("Pod %s can't rejoin with its data. %s", pod, r.newMember(pod)))
	} else if how := r.scaleUp(ctx, l); how != "" && !l.Learner {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("It can't rejoin with its data any more. If you don't remove it, this brings it back: %s.", how))
	}
	return l, plan, nil
}

// scaleUp returns the command that runs a member again whose workload was scaled in, empty for none.
func (r Removal) scaleUp(ctx context.Context, l etcd.Listed) string {
	again, found, err := peers.StoppedWorkloadOf(ctx, r.Reader, r.Owner, peerIn(l))
	if err != nil || !found {
		return ""
	}
	return fmt.Sprintf("kubectl scale %s -n %s --replicas %d", again.Target, r.Owner.Namespace, again.Replicas)
}

func peerOf(r Removal, s etcd.Survey, l etcd.Listed) membership.Peer {
	peers := Peers(r.Owner, s)
	return peers[slices.IndexFunc(peers, func(p membership.Peer) bool { return p.ID == l.ID })]
}

// judge returns the verdict of the rules on a member that may be removed. The error has what to do
// instead, or first.
func (r Removal) judge(ctx context.Context, s etcd.Survey, l etcd.Listed) (policy.Verdict, membership.Silence, error) {
	if why := r.useInstead(s, l, peerOf(r, s, l).Healthy); why != "" {
		return policy.Verdict{}, membership.Silence{}, refusedRemoval(l, "%s", why)
	}
	v, silence := r.mayRemove(ctx, s, l)
	if err := context.Cause(ctx); err != nil {
		return v, silence, err
	}
	return v, silence, r.refusal(ctx, s, l, v, silence)
}

func refusedRemoval(l etcd.Listed, format string, args ...any) error {
	return operate.RefuseTo("remove "+l.NameAndID(), format, args...)
}

// refusal returns what to do instead of a removal that a verdict refuses, and nil for one that it allows.
func (r Removal) refusal(ctx context.Context, s etcd.Survey, l etcd.Listed, v policy.Verdict, silence membership.Silence) error {
	switch {
	case v.Reason == membership.VoterHasPod:
		pod := cmp.Or(l.Pod, l.DuePod(r.Owner, s.List))
		object := "pod " + pod
		if l.Pod == "" { // it is due
			object = "statefulset " + r.Owner.StatefulSetOf(pod)
		}
		return refusedRemoval(l, "%s. To see why it does not answer: kubectl describe %s -n %s. If its data is lost: %s. To remove it for good, run the same command with --force",
			v.Message, object, r.Owner.Namespace, r.howToReplace(pod))
	case v.Reason == membership.VoterHasOldData:
		return refusedRemoval(l, "%s. To see what to do: kubectl etcd diagnose %s -n %s", v.Message, r.Owner.Target(), r.Owner.Namespace)
	case v.Reason == membership.VoterStopped:
		return refusedRemoval(l, "%s. To bring it back: %s. To remove it for good, run the same command with --force", v.Message, r.scaleUp(ctx, l))
	case v.Reason == membership.VoterAlive && l.Pod == "" && l.DuePod(r.Owner, s.List) == "":
		return refusedRemoval(l, "%s. To remove it for good, stop its etcd first (stop the workload that runs it, and delete no volume), and run the same command again", v.Message)
	case v.Reason == membership.VoterElsewhere: // the rule allows its removal apart from that
		return refusedRemoval(l, "%s. To remove it for good, stop its etcd first (delete the pod, or stop the workload that runs it), and run the same command again", v.Message)
	case v.Reason == membership.VoterUnknown && silence.Declarable():
		return refusedRemoval(l, "%s. The leader has no connection with it. If you have made sure that it can't come back, run the same command with --lost", v.Message)
	case !v.Allowed:
		return refusedRemoval(l, "%s", v.Message)
	}
	return nil
}

// useInstead returns what to do instead if a member must not simply be removed from the list.
// It is empty for a member that has no pod and gets none. Without an operator it is also empty
// for learners and dead voters.
func (r Removal) useInstead(s etcd.Survey, l etcd.Listed, healthy bool) string {
	m, due := r.Owner.Membership(), l.DuePod(r.Owner, s.List)
	managed, force := m.Manager != flavour.Unmanaged, ""
	if m.Manager == flavour.BySets && !healthy { // no program adds it again
		managed, force = !r.Force, ". To remove it although its pod may come back, run the same command with --force"
	}
	switch {
	case m.Manager == flavour.BySets && l.Learner:
	case l.Pod != "" && managed:
		return fmt.Sprintf("it has a pod, and %s manages the members. To replace it: %s. To have fewer members: %s%s", m.ManagerName, r.howToReplace(l.Pod), howToShrink(m), force)
	case due != "" && managed:
		return fmt.Sprintf("its pod %s is missing at the moment, and %s manages the members. kubectl describe statefulset %s -n %s shows why. If its data is lost: %s%s",
			due, m.ManagerName, r.Owner.StatefulSetOf(due), r.Owner.Namespace, r.howToReplace(due), force)
	case l.Pod != "" && healthy && !l.Learner:
		return fmt.Sprintf("it is healthy. kubectl etcd scale removes the last member with its pod and volume, and %s --force replaces this one", r.replaceCommand(l.Pod))
	}
	return ""
}

// howToShrink returns how to have fewer members, of those that an operator or a start script manages.
func howToShrink(m flavour.Membership) string {
	if m.AddsOnly {
		return m.ScaleInHow + ": " + m.ManagerName + " does not scale in"
	}
	return cmp.Or(m.ScaleInHow, m.ScaleHow)
}

// howToReplace returns how to replace a member: as the operator or start script that manages it does, or by the plugin.
func (r Removal) howToReplace(pod string) string {
	m := r.Owner.Membership()
	if m.ByPlugin || m.ReplaceHow == "" {
		return r.replaceCommand(pod)
	}
	return m.ReplaceHow
}

// newMember returns how a pod whose member was removed gets a new one, as a sentence. member replace refuses the pods of
// several workloads.
func (r Removal) newMember(pod string) string {
	o := r.Owner
	if o.Membership().Manager != flavour.BySets {
		return r.replaceCommand(pod) + " gives it a new member."
	}
	return fmt.Sprintf("To give it a new member: add a learner with %s, start the pod without its old data and with --initial-cluster-state=existing, and make it a voter with %s.",
		o.Command("member add", "--peer-urls URL"), o.Command("member promote", "MEMBER"))
}

func (r Removal) replaceCommand(pod string) string {
	return fmt.Sprintf("kubectl etcd member replace %s %s -n %s", r.Owner.Target(), pod, r.Owner.Namespace)
}
