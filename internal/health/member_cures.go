// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// scaledAway returns the pod of a member that the StatefulSet had before it was scaled in, and
// the number of replicas with which it runs again. The pod is empty if there is none, or if
// a pod that would run again has no claim with its data.
func (f *Facts) scaledAway(l etcd.Listed) (pod string, replicas int) {
	at := f.Owner.Ordinal(l.Name)
	if l.Pod != "" || at < f.Size() || !f.returns(at+1) {
		return "", 0
	}
	return l.Name, at + 1
}

// toRemove returns the command that removes a member from etcd. Where that would be refused,
// because the pod is expected, an operator manages the members, or the member may be alive, it
// is the command that shows more.
func (f *Facts) toRemove(l etcd.Listed) string {
	if workload, replicas := f.stoppedAs(l); workload != "" {
		return f.kubectl("scale", workload, fmt.Sprintf("--replicas %d", replicas))
	}
	switch {
	case l.DuePod(f.Owner, f.Survey.Value.List) != "":
		return f.kubectl("describe", "statefulset", f.Owner.StatefulSetOf(l.DuePod(f.Owner, f.Survey.Value.List)))
	case l.Pod != "":
		return f.kubectl("describe", "pod", l.Pod)
	case f.Silences[l.ID].Contact == membership.ContactAnswers:
		return joinLists
	case f.PodElsewhere(l) != "":
		return f.kubectl("etcd", "status", "pod/"+f.PodElsewhere(l)) + f.Login
	case f.continues() != "" && f.ofPod(l):
		return f.continues()
	case !f.removable(l):
		return f.Command("member list")
	}
	return f.Command("member remove", id(l))
}

// removable reports whether the rules of member remove accept a member that no pod of the cluster
// runs.
func (f *Facts) removable(l etcd.Listed) bool {
	return f.MayRemove[l.ID].Allowed && (f.continues() == "" || !f.ofPod(l)) && membership.IsDead(f.Silences[l.ID]).Allowed &&
		(f.Cluster.Err != nil || policy.Precondition(f.Cluster.Value.Cluster, l.NameAndID()).Allowed)
}

// replace returns the replacement of a member if member replace accepts it now, and otherwise what must be so first: etcd adds
// no member while another voter is missing, or while there is a learner.
func (f *Facts) replace(pod string, flags ...string) string {
	how := f.replacement(pod, flags...)
	if w := f.Owner.Membership(); how == f.continues() || how == f.Command("member list") || w.ReplaceHow != "" && !w.ByPlugin {
		return how
	}
	switch others := f.notReady(pod); {
	case f.Cluster.Err == nil && f.Cluster.Value.Cluster.TrafficCut:
		return f.restoreTraffic()
	case len(others) > 0:
		return "once " + policy.Names(others, "is", "are") + " healthy or removed, " + how
	case f.hasLearner():
		return "once no member is a learner, " + how
	case f.outdated(pod) || f.held():
		if f.UndoRollout == "" {
			return "once the rollout is complete, " + how
		}
		return "once the rollout is complete or undone (" + f.UndoRollout + "), " + how
	}
	return how
}

// held reports whether etcd-webhook holds a rollout of the StatefulSet.
func (f *Facts) held() bool { return f.StatefulSet.Value != nil && rollouts.Holds(f.StatefulSet.Value) }

// outdated reports whether pods other than one don't run the latest template of the StatefulSet. A replacement
// restores that template at its end, and so is refused until they do.
func (f *Facts) outdated(except string) bool {
	sts := f.StatefulSet.Value
	return sts != nil && sts.Status.UpdateRevision != "" && slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool {
		return p.Name != except && f.Owner.Ordinal(p.Name) >= 0 && p.Labels[appsv1.StatefulSetRevisionLabel] != sts.Status.UpdateRevision
	})
}

// replacement returns how to give a pod a new member, through what manages the members. Where the old one
// may not be removed, it is the command that shows the members.
func (f *Facts) replacement(pod string, flags ...string) string {
	for _, l := range f.Survey.Value.List {
		if l.Pod == pod && !f.MayRemove[l.ID].Allowed {
			return f.Command("member list")
		}
	}
	return f.replacementHow(pod, flags...)
}

// replacementHow returns how a member is replaced if the old one may be removed.
func (f *Facts) replacementHow(pod string, flags ...string) string {
	if w := f.Owner.Membership(); w.ReplaceHow != "" && !w.ByPlugin {
		return instruction(toReplace, w.ReplaceHow)
	}
	return f.orContinue(f.Command("member replace", append([]string{pod}, flags...)...))
}

// promote returns how to promote a learner that a pod runs. The verb refuses where something else adds the
// members. There etcd is asked for it, if the learner has caught up: etcd also promotes an empty one.
func (f *Facts) promote(l etcd.Listed) string {
	if w := f.Owner.Membership(); w.Manager == flavour.BySets || w.Manager == flavour.Unmanaged && !f.Owner.WithoutStatefulSet() {
		return f.orContinue(f.Command("member promote", id(l)))
	}
	m := recovery.Member{Name: l.Pod}
	if f.answerOf(&m); !m.CaughtUp {
		return f.inspect(l.Pod)
	}
	return fmt.Sprintf("%s -- etcdctl member promote %s", f.Command("proxy"), id(l))
}
