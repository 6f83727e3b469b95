// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// state is a cluster with the restarts that are requested of it.
type state struct {
	rollouts.State
	owner owner.Owner
	// requests and records are those of the StatefulSets, in their order.
	requests []string
	records  []annotation.RestartRecord
	// budget has a copy of the record, nil for none.
	budget *policyv1.PodDisruptionBudget
}

// read reads a cluster by read.
func (c *Reconciler) read(ctx context.Context, o owner.Owner, read func(context.Context, *observe.Reader, owner.Owner) (rollouts.State, error)) (state, error) {
	r, err := read(ctx, c.Reader, o)
	if err != nil {
		return state{}, fmt.Errorf("observe the members of %s: %w", o, err)
	}
	s := state{State: r, owner: o}
	for i := range r.Sets {
		s.requests = append(s.requests, requestOf(o, r.Sets[i].StatefulSet))
		s.records = append(s.records, annotation.ParseRestartRecord(r.Sets[i].Annotations[v1alpha1.RestartedPodsAnnotation]))
	}
	if err := c.readCopy(ctx, &s); err != nil {
		return state{}, err
	}
	return s, nil
}

// requestOf returns the request of a StatefulSet. One of an Etcd has the request of that, and none of its own: etcd-druid
// removes it, and of two requests, the one that is done would be carried out again after the other one.
func requestOf(o owner.Owner, sts *appsv1.StatefulSet) string {
	if o.Kind == "StatefulSet" {
		return sts.Annotations[v1alpha1.RestartRequestAnnotation]
	}
	return o.Annotations[v1alpha1.RestartRequestAnnotation]
}

// misplaced returns the request that is on the StatefulSet of an Etcd, empty for none.
func (s *state) misplaced() string {
	for i := range s.Sets {
		if request := s.Sets[i].Annotations[v1alpha1.RestartRequestAnnotation]; s.owner.Kind != "StatefulSet" && request != "" {
			return request
		}
	}
	return ""
}

// any reports whether a restart is requested, or was until now.
func (s *state) any() bool {
	for i := range s.Sets {
		if s.requests[i] != "" || s.records[i].Request != "" {
			return true
		}
	}
	return false
}

// anyPods reports whether pods are yet to be restarted.
func (s *state) anyPods() bool {
	return slices.ContainsFunc(s.records, func(r annotation.RestartRecord) bool { return len(r.Pods) > 0 })
}

// begun reports whether each record is about the current request.
func (s *state) begun() bool {
	for i := range s.Sets {
		if len(s.records[i].Pods) > 0 && s.records[i].Request != s.requests[i] {
			return false
		}
	}
	return true
}

// next returns the next step of the rule.
func (s *state) next() restart.Step {
	f := &s.Facts
	held := func(reason policy.Reason, format string, args ...any) restart.Step {
		return restart.Step{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case !f.Confirmed:
		return held(rollout.Unconfirmed, "the age of the members' leases is not known yet")
	case f.Cluster.SizeUnknown != "":
		return held(policy.SizeUnknown, "it is not known which other members the cluster has (%s), and one of them may be down", f.Cluster.SizeUnknown)
	case len(f.Leaving) > 0:
		return held(rollout.PodLeaving, "%s being evicted", policy.Names(f.Leaving, "is", "are"))
	}
	for i := range s.Sets {
		for _, mark := range []string{v1alpha1.RestartAnnotation, v1alpha1.RestoreAnnotation, v1alpha1.MemberChangeAnnotation} {
			if _, marked := s.Sets[i].Annotations[mark]; marked {
				return held(policy.OperationUnderWay, "annotation %s of StatefulSet %s shows that an operation of kubectl etcd has not ended: kubectl etcd status %s", mark, s.Sets[i].Name, s.Facts.Cluster.TargetArgs())
			}
		}
	}
	step := restart.Next(s.facts())
	if step.Kind == restart.MoveLeader { // etcd transfers the leadership when it stops
		step.Kind = restart.Restart
	}
	return step
}

// facts returns the members as the rule has them.
func (s *state) facts() restart.Facts {
	out := restart.Facts{Cluster: s.Facts.Cluster, LeaderUnknown: true}
	for i, set := range s.Facts.Sets {
		for _, p := range set.Pods {
			out.Members = append(out.Members, s.member(p, s.records[i].Pods[p.Pod]))
			out.LeaderUnknown = out.LeaderUnknown && !p.Leader
		}
	}
	out.Members = append(out.Members, s.others(out.Members)...)
	return out
}

// others returns the members that are no replica of a StatefulSet: those that are known by a pod or a lease, and those of
// which only the size of the cluster is known. None of them restarts, and all may vote.
func (s *state) others(replicas []restart.Member) []restart.Member {
	var out []restart.Member
	for _, m := range s.Facts.Cluster.Members {
		if !slices.ContainsFunc(replicas, func(r restart.Member) bool { return r.Pod == m.Pod }) {
			out = append(out, s.member(rollout.Pod{Member: m}, ""))
		}
	}
	for n := len(replicas) + len(out); n < s.Facts.Cluster.Size; n++ {
		out = append(out, restart.Member{Pod: "a member without a pod", Trouble: "only the size of the cluster is known of it"})
	}
	return out
}

// member returns a member. uid is that of the pod from when the restart began, empty for one that need not restart.
func (s *state) member(p rollout.Pod, uid types.UID) restart.Member {
	m := restart.Member{
		Pod: p.Pod, Recorded: uid != "", Exists: p.Exists, Leaving: p.Going, PodReady: p.PodReady, Learner: p.Learner, Leader: p.Leader,
		NodeLost: p.NodeLost,
	}
	if pod := s.Pods[p.Pod]; pod != nil {
		m.New = m.Recorded && pod.UID != uid
	}
	switch {
	case !p.Exists:
		m.Trouble = "it has no pod"
	case !p.Ready:
		m.Trouble = "its pod or its lease shows that it is not ready"
	}
	return m
}
