// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// PlanReplace looks whether a pod's member may be replaced by an empty one, and
// says what that would do. The error is a *RefusedError where it may not. force
// is for a member that is healthy, or whose data seems to be there.
func (m *Members) PlanReplace(ctx context.Context, pod string, force bool) (*Change, operate.Plan, error) {
	what := fmt.Sprintf("replace %s of %s", pod, m.Owner)
	place := m.Owner.Ordinal(pod)
	if place >= MaxMembers && place >= int(m.Owner.Replicas) { // nobody looks at all places below
		return nil, operate.Plan{}, &operate.RefusedError{What: what, Why: []string{fmt.Sprintf("it is none of the StatefulSet's %d pods", m.Owner.Replicas)}}
	}
	s, err := m.observeFirst(ctx, what, place+1)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	if place < 0 || place >= s.Replicas {
		return nil, operate.Plan{}, &operate.RefusedError{What: what, Why: []string{fmt.Sprintf("it is none of the StatefulSet's %d pods", s.Replicas)}}
	}
	seat := s.Ordinals[place]
	j := &Change{Record: membership.Record{
		Operation: membership.Replace, Target: s.Replicas, Replicas: s.Replicas, OnDelete: s.OnDelete, Partition: s.Partition,
		Ordinal: place, UID: seat.UID, Claims: seat.Claims,
	}}
	f := &findings{}
	if err := m.checkReplaced(ctx, s, j, force, f); err != nil {
		return nil, operate.Plan{}, err
	}
	if err := m.checkPeerService(ctx, s, f); err != nil {
		return nil, operate.Plan{}, err
	}
	if err := m.checkClientServices(ctx, s, f); err != nil {
		return nil, operate.Plan{}, err
	}
	for at, other := range s.Ordinals[:s.Replicas] {
		if other.UID != "" && !other.Updated && at != place {
			f.refuse("%s is not of the StatefulSet's latest template: a rollout is under way or held back%s; finish it first, or where it waits for %s itself, take it back: kubectl rollout undo statefulset/%s -n %s",
				other.Pod, s.heldBack(), pod, s.sts.Name, s.sts.Namespace)
		}
	}
	m.checkUser(ctx, s, f)
	m.checkConnected(ctx, s, pod, f)
	if err := m.record(ctx, s, j); err != nil {
		f.refuse("%v: %s", err, m.manualWay())
	}
	if len(f.refusals) > 0 {
		return nil, operate.Plan{}, &operate.RefusedError{What: what, Why: f.refusals}
	}
	return j, operate.Plan{
		Title: fmt.Sprintf("replace the member of %s by an empty one", pod),
		Facts: f.facts, Steps: m.replaceSteps(s, j), Warnings: f.warnings,
	}, nil
}

// checkReplaced looks at the member itself: whether it may go, and needs to.
func (m *Members) checkReplaced(ctx context.Context, s *observation, j *Change, force bool, f *findings) error {
	seat := s.Ordinals[j.Ordinal]
	if why := m.deletionBlockedBy(s.pods[seat.Pod]); why != "" {
		f.refuse("%s", why)
	}
	var old *membership.Peer
	for i := range s.Members {
		if s.Members[i].Ordinal == j.Ordinal {
			old = &s.Members[i]
		}
	}
	if old == nil {
		f.fact("%s is no member of etcd now", seat.Pod)
		m.checkState(ctx, s, seat.Pod, f)
		return nil
	}
	j.Member = old.ID
	if old.Learner {
		f.refuse("%s is a learner that somebody else added: promote or remove it first", seat.Pod)
		return nil
	}
	if v := membership.MayRemove(s.Members, old.ID); !v.Allowed {
		f.refuse("%s", v.Message)
		return nil
	}
	cures := seat.Pod
	wrong, err := m.wrongData(ctx, s, seat.Pod)
	switch {
	case err != nil:
		return err
	case old.Healthy && wrong != "":
		f.fact("%s is to be replaced: %s", seat.Pod, wrong)
	case old.Healthy && !force:
		f.refuse("it is healthy; --force replaces a healthy member and throws its data away")
	case old.Healthy:
		cures = ""
		f.warn("%s is healthy: its data is thrown away.", seat.Pod)
	default:
		if err := m.checkLost(ctx, s, seat.Pod, force, f); err != nil {
			return err
		}
	}
	m.checkState(ctx, s, cures, f)
	return nil
}

// checkLost looks whether a member that is down has lost its data: else it rejoins.
func (m *Members) checkLost(ctx context.Context, s *observation, pod string, force bool, f *findings) error {
	lost, why, err := m.dataLost(ctx, s, pod)
	switch {
	case err != nil:
		return err
	case lost:
		f.fact("%s has lost its data: %s", pod, why)
	case !force:
		f.refuse("its data seems to be there (%s), so it rejoins when its pod runs again: see kubectl describe pod %s -n %s; --force throws its data away", why, pod, m.Owner.Namespace)
	default:
		f.warn("The data of %s may still be there (%s), and is thrown away.", pod, why)
	}
	return nil
}

// hashLimit is the size of a database from which nobody has it read as a whole
// unless etcd itself says that data differ.
const hashLimit = 2 << 30

// wrongData says how the data of a pod differ from what most voters have, and is
// empty where they don't, or nobody knows.
func (m *Members) wrongData(ctx context.Context, s *observation, pod string) (string, error) {
	tooLarge := func(m etcd.Member) bool { return m.DBSize > hashLimit && !corrupt(s.survey) }
	if slices.ContainsFunc(s.survey.Members, func(m etcd.Member) bool { return m.Err != nil || tooLarge(m) }) {
		return "", nil // hashes of some are no proof
	}
	data, err := maintenance.Compare(ctx, m.cluster, s.survey, m.Clock)
	if err != nil {
		return "", err
	}
	most := data.Minority(pod)
	if len(most) == 0 {
		return "", nil
	}
	return fmt.Sprintf("at revision %d its data differ from those of %s, which are the same", data.Revision, strings.Join(most, " and ")), nil
}

// corrupt says that etcd raised CORRUPT for any member.
func corrupt(s etcd.Survey) bool {
	return slices.Contains(s.StrayTypes(), rules.Corrupt) || slices.ContainsFunc(s.Members, func(m etcd.Member) bool { return slices.Contains(m.Alarms, rules.Corrupt) })
}

func (m *Members) replaceSteps(s *observation, j *Change) []string {
	pod := s.Ordinals[j.Ordinal].Pod
	var steps []string
	listed := len(s.survey.List) + 1
	if j.Member != 0 {
		listed--
		steps = append(steps, fmt.Sprintf("move leadership off %s if it leads, remove member %016x from etcd", pod, j.Member))
	}
	told := fmt.Sprintf("write initial-cluster with %s and state existing for %s", format.Members(listed), pod)
	if s.InTemplate && !s.OnDelete {
		told = "set the update strategy to OnDelete, " + told
	}
	steps = append(steps, told, fmt.Sprintf("add %s to etcd as a learner", pod))
	if len(s.Ordinals[j.Ordinal].Claims) > 0 {
		steps = append(steps, fmt.Sprintf("delete the volume claims of %s, then its pod", pod))
	} else {
		steps = append(steps, "delete pod "+pod)
	}
	return append(steps, fmt.Sprintf("wait until %s is within %d entries of the leader, promote it", pod, policy.LagLimit),
		"give template and update strategy back, so that nobody else restarts")
}
