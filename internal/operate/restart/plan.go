// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Plan checks whether a restart may begin, and returns its record and plan. only is the pod of the
// only member to restart, empty for all.
func (j *Job) Plan(ctx context.Context, only string) (*Record, operate.Plan, error) {
	r := &Record{Strategy: Rolling, Only: only, Pods: map[string]types.UID{}}
	f := &operate.Findings{}
	s, err := j.check(ctx, r, f)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	if err := j.refusePeers(ctx, s, rules.Order(s.Facts), f); err != nil {
		return nil, operate.Plan{}, err
	}
	step := rules.Next(s.Facts)
	switch step.Kind {
	case rules.Blocked, rules.Wait:
		f.Refuse("%s", step.Message)
	case rules.Done:
		f.Refuse("no member has a pod")
	case rules.MoveLeader:
		if _, ok := j.successor(s); !ok {
			f.Refuse("%s is the leader, and no other voter can lead", step.Pod)
		}
	case rules.Restart:
		f.Fact("%s", step.Message)
	}
	for _, n := range step.Notes {
		f.Warn("%s.", upper(n.Message))
	}
	if err := f.Refused(j.what(r)); err != nil {
		return nil, operate.Plan{}, err
	}
	return r, operate.Plan{Title: j.what(r), Facts: f.Facts, Steps: rollingSteps(s), Warnings: f.Warnings, Subject: subject(s, r, rules.Order(s.Facts))}, nil
}

// subject identifies the members that restart, in their order, and what their next pods get: the pod templates, and the
// contents of what these name.
func subject(s *state, r *Record, order []string) string {
	var next []string
	for _, sts := range s.sets {
		partition := int32(0)
		if u := sts.Spec.UpdateStrategy.RollingUpdate; u != nil {
			partition = ptr.Deref(u.Partition, 0)
		}
		next = append(next, fmt.Sprintf("%s %s from %d", sts.Name, sts.Status.UpdateRevision, partition))
	}
	return fmt.Sprint(order, next, r.Config) // a map is printed in the order of its keys
}

// check reads the cluster, fills the record, and checks what a restart demands.
func (j *Job) check(ctx context.Context, r *Record, f *operate.Findings) (*state, error) {
	if err := j.restartable(r); err != nil {
		return nil, err
	}
	s, err := j.observe(ctx, &Record{Strategy: r.Strategy, Only: r.Only})
	if err != nil {
		return nil, err
	}
	for _, p := range s.pods {
		r.Pods[p.Name] = p.UID
	}
	if _, known := r.Pods[r.Only]; r.Only != "" && !known {
		return nil, &operate.RefusedError{What: j.what(r), Why: []string{"it is not one of its pods: " + strings.Join(podNames(s), ", ")}}
	}
	if err := j.checkPods(ctx, s, r, f); err != nil {
		return nil, err
	}
	if r.Config, err = j.readConfig(ctx, s.sets, f); err != nil {
		return nil, err
	}
	j.checkHooks(f)
	j.describe(s, r, f)
	r.journal.Began = j.Clock.Now().UTC()
	return s, nil
}

// checkPods checks that the members to restart keep their data.
func (j *Job) checkPods(ctx context.Context, s *state, r *Record, f *operate.Findings) (err error) {
	j.checkOldData(ctx, s, r, f)
	if r.Strategy == Coordinated {
		s.intact, err = j.checkIntact(ctx, s, f)
		return err
	}
	for _, pod := range s.pods {
		if r.Only != "" && r.Only != pod.Name {
			continue
		}
		if err := j.checkData(ctx, s, pod, f); err != nil {
			return err
		}
	}
	return nil
}

// checkOldData refuses to restart a member that ran before the members that answer began without data. When it runs
// again, etcd keeps one of the two logs. The same holds for one that may have data from before.
func (j *Job) checkOldData(ctx context.Context, s *state, r *Record, f *operate.Findings) {
	since, ask := etcd.RunningSince(s.pods), memberlist.Removal{Members: j.members, Clock: j.Clock}
	for _, l := range s.survey.List {
		switch {
		case r.Only != "" && r.Only != l.Pod:
		case s.survey.Predates(l, since) && !ask.InContact(ctx, s.survey, l.ID):
			f.Refuse("%s ran before the members that answer began without data, and only it can have the earlier data; when it runs again, etcd keeps one of the two logs. To see what to do: kubectl etcd diagnose %s -n %s",
				l.Pod, j.Owner.Target(), j.Owner.Namespace)
		case j.olderVolume(ctx, s, l, f) && !ask.InContact(ctx, s.survey, l.ID):
			f.Refuse("%s has never started in the log of the members that answer, and its volume is older than theirs: it may have the earlier data, or the cluster was restored by hand since. To see what to do: kubectl etcd diagnose %s -n %s",
				l.Pod, j.Owner.Target(), j.Owner.Namespace)
		}
	}
}

// olderVolume reports whether a member that doesn't answer may have data from before, as the age of its volume shows.
func (j *Job) olderVolume(ctx context.Context, s *state, l etcd.Listed, f *operate.Findings) bool {
	v, err := s.survey.VolumesOf(ctx, j.Reader, j.Owner, l, l.Pod)
	if err != nil {
		f.Warn("It is not known whether %s may have earlier data than the members that answer: %v.", l.Pod, err)
	}
	return s.survey.OlderVolume(l, l.Pod, v)
}

// restartable refuses clusters with pods that nothing creates again.
func (j *Job) restartable(r *Record) error {
	if len(j.Owner.PodsBeside) > 0 {
		return &operate.RefusedError{What: j.what(r), Why: []string{j.podsBeside()}}
	}
	if !j.Owner.WithoutStatefulSet() {
		return nil
	}
	why := "its pods have no StatefulSet that creates them again"
	if m := j.Owner.Membership(); m.ManagerName != "" {
		why += "; " + m.ManagerName + " changes them"
	}
	return &operate.RefusedError{What: j.what(r), Why: []string{why}}
}

// podsBeside returns the refusal of a cluster of which no StatefulSet makes some members.
func (j *Job) podsBeside() string {
	return fmt.Sprintf("no StatefulSet creates %s, so nothing may create such a pod again, and a restart is for the members of StatefulSets; restart each of these with the program that created it, and the others with kubectl delete pod, one at a time, while all members are healthy (kubectl etcd status %s -n %s)",
		policy.List(j.Owner.PodsBeside), j.Owner.Target(), j.Owner.Namespace)
}

// what names a restart: "restart StatefulSet team/main, one member at a time".
func (j *Job) what(r *Record) string {
	if r.Strategy == Coordinated {
		return fmt.Sprintf("restart all members of %s at once", j.Owner)
	}
	if r.Only != "" {
		return fmt.Sprintf("restart %s of %s", r.Only, j.Owner)
	}
	return fmt.Sprintf("restart the members of %s, one at a time", j.Owner)
}

// checkHooks reads the commands of the pods that take a member out of etcd when it stops. Without
// one that adds it again, each restart costs a voter.
func (j *Job) checkHooks(f *operate.Findings) {
	for _, m := range j.Owner.MemberChanges {
		switch {
		case m.Unread != "" && m.RunsAtStop():
			f.Warn("%s can't be read, so it may remove the member from etcd: %s.", upper(m.Where()), m.Unread)
		case m.AtStop() && m.AddedAgain(j.Owner.MemberChanges):
			f.Warn("%s has %s: a pod that stops is no longer a member until its start script adds it again.", upper(m.Where()), m.Command())
		}
	}
	if why := j.Owner.CostsMember(); why != "" {
		f.Refuse("%s", why)
	}
}

// describe adds the members, and which template their next pods get.
func (j *Job) describe(s *state, r *Record, f *operate.Findings) {
	for _, m := range s.Members {
		f.Fact("%s", describeMember(m))
	}
	for _, sts := range s.sets {
		kept, old := 0, 0
		for _, p := range s.pods {
			if j.setOf(p.Name) != sts.Name || p.Labels[appsv1.StatefulSetRevisionLabel] == sts.Status.UpdateRevision {
				continue
			}
			if u := sts.Spec.UpdateStrategy.RollingUpdate; u != nil && owner.OfStatefulSet(sts).Ordinal(p.Name) < int(ptr.Deref(u.Partition, 0)) {
				kept++
				continue
			}
			old++
		}
		if kept > 0 {
			f.Fact("the partition of StatefulSet %s keeps its newer pod template from %d of its pods: their next pods get the old one", sts.Name, kept)
		}
		if old > 0 {
			f.Fact("StatefulSet %s has a newer pod template than %d of its pods: their next pods get it", sts.Name, old)
		}
		if kept+old == 0 {
			f.Fact("the next pods get the same template of StatefulSet %s", sts.Name)
		}
	}
	if len(s.Members) == 1 && r.Strategy == Rolling {
		f.Warn("It is the only member: etcd answers no requests until it has started again.")
	}
	if len(r.Config) > 0 {
		f.Fact("what a new pod reads exists: %s", strings.Join(sortedKeys(r.Config), ", "))
		if r.Strategy == Rolling {
			f.Fact("before each member, the contents of these are compared with the current ones: after a change, no further member is restarted")
		}
	}
}

func (j *Job) setOf(pod string) string {
	if !j.Owner.Spans() {
		return j.Owner.StatefulSet
	}
	at := strings.LastIndex(pod, "-")
	return pod[:max(at, 0)]
}

func describeMember(m rules.Member) string {
	role := "follower"
	switch {
	case m.Trouble != "":
		return fmt.Sprintf("%s  not healthy: %s", m.Pod, m.Trouble)
	case m.Leader:
		role = "leader"
	case m.Learner:
		role = "learner"
	}
	ready := "healthy"
	if !m.PodReady {
		ready = "healthy, but its pod is not Ready"
	}
	return fmt.Sprintf("%s  %-8s  %s, %d entries behind", m.Pod, role, ready, m.Behind)
}

// rollingSteps returns the steps of a rolling restart.
func rollingSteps(s *state) []string {
	var steps []string
	leader := ""
	for _, m := range s.Members {
		if m.Leader {
			leader = m.Pod
		}
	}
	for _, pod := range rules.Order(s.Facts) {
		if pod == leader && len(s.Members) > 1 {
			steps = append(steps, fmt.Sprintf("transfer leadership away from %s", pod))
		}
		steps = append(steps, fmt.Sprintf("evict %s, and wait until its next pod is Ready, follows the leader and has caught up", pod))
	}
	return steps
}

func podNames(s *state) []string {
	var names []string
	for _, p := range s.pods {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
