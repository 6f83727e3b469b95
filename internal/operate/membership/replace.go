// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// PlanReplace checks whether a pod's member may be replaced by an empty one, and returns the plan. The
// error is a *RefusedError where it may not. force is for a member that is healthy, or whose data
// seems to exist.
func (m *Members) PlanReplace(ctx context.Context, pod string, force bool) (*Change, operate.Plan, error) {
	if err := mayReplace(m.Owner, pod); err != nil {
		return nil, operate.Plan{}, err
	}
	what := fmt.Sprintf("replace %s of %s", pod, m.Owner)
	ordinal := m.Owner.Ordinal(pod)
	if ordinal >= policy.MaxScale && ordinal >= int(m.Owner.Replicas) { // too large to read all ordinals below it
		return nil, operate.Plan{}, &operate.RefusedError{What: what, Why: []string{fmt.Sprintf("it is not one of the StatefulSet's %d pods", m.Owner.Replicas)}}
	}
	s, err := m.observeFirst(ctx, what, ordinal+1)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	if ordinal < 0 || ordinal >= s.Replicas {
		return nil, operate.Plan{}, &operate.RefusedError{What: what, Why: []string{fmt.Sprintf("it is not one of the StatefulSet's %d pods", s.Replicas)}}
	}
	replica := s.Ordinals[ordinal]
	j := &Change{Record: membership.Record{
		Operation: membership.Replace, Target: s.Replicas, Replicas: s.Replicas, OnDelete: s.OnDelete, Partition: s.Partition,
		Ordinal: ordinal, UID: replica.UID, Claims: replica.Claims,
	}}
	f := &operate.Findings{}
	if err := m.checkReplaced(ctx, s, j, force, f); err != nil {
		return nil, operate.Plan{}, err
	}
	if err := m.checkPeerServices(ctx, s, s.Ordinals[ordinal:ordinal+1], f); err != nil {
		return nil, operate.Plan{}, err
	}
	if err := m.checkClientServices(ctx, s, s.Ordinals[ordinal:ordinal+1], s.brokenAt(ordinal), f); err != nil {
		return nil, operate.Plan{}, err
	}
	m.checkHeld(ctx, s, f)
	checkUnmarked(s, f)
	m.checkOthersUpdated(ctx, s, ordinal, pod, f)
	m.checkUser(ctx, s, f)
	m.checkConnected(ctx, s, pod, f)
	if err := m.record(ctx, s, j); err != nil {
		f.Refuse("%v: %s", err, m.manualInstructions())
	}
	if err := f.Refused(what); err != nil {
		return nil, operate.Plan{}, err
	}
	return j, operate.Plan{
		Title: fmt.Sprintf("replace the member of %s with an empty one", pod),
		Facts: f.Facts, Steps: planSteps(s, j.Record), Warnings: f.Warnings,
		Subject: fmt.Sprint(j.Replicas, j.Member, j.UID, j.Claims), Needs: m.configNeeds(j),
	}, nil
}

// checkOthersUpdated refuses a replacement beside a rollout, which would restart another member.
func (m *Members) checkOthersUpdated(ctx context.Context, s *observation, ordinal int, pod string, f *operate.Findings) {
	for at, other := range s.Ordinals[:s.Replicas] {
		if other.UID != "" && !other.Updated && at != ordinal {
			f.Refuse("%s does not have the StatefulSet's latest template: a rollout is under way or held back%s; finish it first%s",
				other.Pod, s.heldBack(), m.orUndo(ctx, s, ", or if it waits for "+pod+" itself, undo it: "))
		}
	}
}

// brokenAt returns the pod of an ordinal if it has no healthy member, else an empty string.
func (s *observation) brokenAt(ordinal int) string {
	if slices.ContainsFunc(s.Members, func(p membership.Peer) bool { return p.Ordinal == ordinal && p.Healthy }) {
		return ""
	}
	return s.Ordinals[ordinal].Pod
}

// checkReplaced checks the member itself: whether it may be removed, and needs to be.
func (m *Members) checkReplaced(ctx context.Context, s *observation, j *Change, force bool, f *operate.Findings) error {
	replica := s.Ordinals[j.Ordinal]
	if why := podstate.DeletionStuck(s.pods[replica.Pod], m.Reader.NodeLost(ctx, s.pods[replica.Pod]), m.Clock.Now()); why != "" {
		f.Refuse("%s", why)
	}
	at := slices.IndexFunc(s.Members, func(p membership.Peer) bool { return p.Ordinal == j.Ordinal })
	if at < 0 {
		m.checkState(ctx, s, replica.Pod, f)
		return m.checkOutsider(ctx, s, replica.Pod, force, f)
	}
	old := &s.Members[at]
	j.Member = old.ID
	if old.Learner {
		f.Refuse("%s is a learner that another client added: promote or remove it first", replica.Pod)
		return nil
	}
	if v := membership.MayRemove(s.Members, old.ID); !v.Allowed {
		f.Refuse("%s", v.Message)
		return nil
	}
	replacing := replica.Pod
	var err error
	switch {
	case old.Healthy:
		replacing, err = m.checkHealthy(ctx, s, replica.Pod, force, f)
	case s.predates(j.Ordinal) && !m.removal().InContact(ctx, s.survey, old.ID):
		f.Refuse("%s ran before the members that answer began without data, and only it can have the earlier data: copy its data directory first%s", replica.Pod, m.withoutOldData(s, replica.Pod))
	case m.olderVolume(s, old) && !m.removal().InContact(ctx, s.survey, old.ID):
		f.Refuse("%s has never started in the log of the members that answer, and its volume is older than theirs: it may have the earlier data, or the cluster was restored by hand since. Copy its data directory first%s", replica.Pod, m.withoutOldData(s, replica.Pod))
	default:
		err = m.checkLost(ctx, s, old, force, f)
	}
	if err != nil {
		return err
	}
	m.checkState(ctx, s, replacing, f)
	warnOfLastFailure(s.Members, *old, f)
	return nil
}

// checkHealthy checks whether a healthy member needs to be replaced. It returns the pod, or an empty string if nothing
// is wrong with it.
func (m *Members) checkHealthy(ctx context.Context, s *observation, pod string, force bool, f *operate.Findings) (replacing string, err error) {
	most, wrong, err := m.dataDifference(ctx, s, pod)
	switch {
	case err != nil:
		return "", err
	case wrong != "" && !force && rules.OldestVolume(pod, most, func(pod string) (time.Time, bool) { return owner.VolumeSince(s.claims[pod]) }):
		f.Refuse("%s; its volume is older than theirs, so they may have started again without its data. Save its data first: kubectl etcd snapshot save %s --member %s -n %s. If you don't need it, --force deletes it",
			wrong, m.Owner.Target(), pod, m.Owner.Namespace)
	case wrong != "":
		f.Fact("%s is to be replaced: %s", pod, wrong)
	case m.goingClaim(s, pod) != "":
		f.Fact("%s loses its data when its pod ends: volume claim %s is being deleted", pod, m.goingClaim(s, pod))
	case !force:
		f.Refuse("it is healthy, and its data is not known to differ from that of the others, so there is nothing to replace; to see what is wrong with the cluster: kubectl etcd diagnose %s -n %s", m.Owner.Target(), m.Owner.Namespace)
	default:
		f.Warn("%s is healthy: its data is deleted.", pod)
		return "", nil
	}
	return pod, nil
}

// predates reports whether the silent member of an ordinal ran before the log of those that answer began.
func (s *observation) predates(ordinal int) bool {
	at := slices.IndexFunc(s.survey.List, func(l etcd.Listed) bool { return l.Pod == s.Ordinals[ordinal].Pod })
	return at >= 0 && s.survey.Predates(s.survey.List[at], etcd.RunningSince(slices.Collect(maps.Values(s.pods))))
}

// olderVolume reports whether a silent member may have data from before the log of those that answer.
func (m *Members) olderVolume(s *observation, old *membership.Peer) bool {
	at := slices.IndexFunc(s.survey.List, func(l etcd.Listed) bool { return l.ID == old.ID })
	if at < 0 {
		return false
	}
	v := observe.MemberVolumes{Claims: map[string][]*corev1.PersistentVolumeClaim{}, Restores: m.Owner.RestoredAt()}
	for pod := range s.claims {
		v.Claims[pod] = m.dataClaimsOf(s, pod)
	}
	return s.survey.OlderVolume(s.survey.List[at], s.Ordinals[old.Ordinal].Pod, v)
}

// removal returns what asks the members about another one.
func (m *Members) removal() memberlist.Removal {
	return memberlist.Removal{Members: m.cluster, Clock: m.Clock}
}

// withoutOldData returns how a member gets the log of the others instead of its own data, empty if it has no volume
// claim. If it is not known which claims have the data, it names all. A new pod with that data would make etcd keep one
// of the two logs.
func (m *Members) withoutOldData(s *observation, pod string) string {
	wanted, known := m.dataClaims(s, pod)
	if len(wanted) == 0 {
		return ""
	}
	var claims []string
	for _, c := range wanted {
		claims = append(claims, c.Template+"-"+pod)
	}
	which := "its volume claim"
	switch {
	case !known:
		which = "all its volume claims (it is not known which of them has the data)"
	case len(claims) > 1:
		which = "its volume claims"
	}
	return fmt.Sprintf(". If you don't need that data, delete %[4]s first and its pod second: kubectl delete pvc %[1]s -n %[2]s --wait=false; kubectl delete pod %[3]s -n %[2]s",
		strings.Join(claims, " "), m.Owner.Namespace, pod, which)
}

// goingClaim returns a volume claim with a pod's data that is being deleted, empty for none. It is also empty
// where it is not known which claims have the data: the loss of another one costs no data.
func (m *Members) goingClaim(s *observation, pod string) string {
	if _, known := m.dataClaims(s, pod); !known {
		return ""
	}
	for _, c := range m.dataClaimsOf(s, pod) {
		if c.DeletionTimestamp != nil {
			return c.Name
		}
	}
	return ""
}

// warnOfLastFailure warns where the voters that stay bear no failure until the new member votes.
func warnOfLastFailure(peers []membership.Peer, old membership.Peer, f *operate.Findings) {
	voters, healthy := 0, 0
	for _, p := range peers {
		if p.Learner || p.ID == old.ID {
			continue
		}
		voters++
		if p.Healthy {
			healthy++
		}
	}
	if voters > 1 && healthy == policy.Quorum(voters) {
		f.Warn("Until the new member votes, %d of %d voters are healthy and quorum is %d: one more failure stops all writes.", healthy, voters, healthy)
	}
}

// checkLost checks whether a member that is down has lost its data. Otherwise it rejoins by itself.
func (m *Members) checkLost(ctx context.Context, s *observation, member *membership.Peer, force bool, f *operate.Findings) error {
	pod := s.Ordinals[member.Ordinal].Pod
	lost, why, err := m.dataLost(ctx, s, pod)
	if err == nil && lost {
		lost, why, err = m.confirmLoss(ctx, s, member.ID, why)
	}
	switch {
	case err != nil:
		return err
	case lost:
		f.Fact("%s has lost its data: %s", pod, why)
	case !force:
		f.Refuse("its data seems to exist (%s), so it rejoins when its pod runs again: see kubectl describe pod %s -n %s; --force deletes its data", why, pod, m.Owner.Namespace)
	default:
		f.Warn("The data of %s may still exist (%s), and is deleted.", pod, why)
	}
	return nil
}

// confirmLoss reports whether data that seem lost, and why they do, are also lost by what the leader
// shows. The plugin may fail to reach a member that is healthy and has its data.
func (m *Members) confirmLoss(ctx context.Context, s *observation, member uint64, why string) (lost bool, confirmed string, err error) {
	contact, unknown := m.removal().Contact(ctx, s.survey, member)
	switch contact {
	case membership.ContactLeads:
		return false, "members that answer follow it as their leader, although " + why, nil
	case membership.ContactActive:
		return false, "the leader receives messages from it, although " + why, nil
	case membership.ContactAnswers:
		return false, "it answers in a pod of another workload, although " + why, nil
	case membership.ContactUnknown:
		return false, fmt.Sprintf("it is not known whether the leader is in contact with it: %s; %s", unknown, why), context.Cause(ctx)
	case membership.ContactNone, membership.ContactSilent:
	}
	return true, why, nil
}

// dataDifference returns the pods of most voters, and how the data of a pod differ from theirs. Both are empty where they
// don't differ, or that is unknown.
func (m *Members) dataDifference(ctx context.Context, s *observation, pod string) (most []string, how string, err error) {
	tooLarge := func(m etcd.Member) bool { return m.DBSize > rules.HashLimit && !corrupt(s.survey) }
	if slices.ContainsFunc(s.survey.Members, func(m etcd.Member) bool { return m.Err != nil || tooLarge(m) }) {
		return nil, "", nil // hashes of some are no proof
	}
	data, err := maintenance.Compare(ctx, m.cluster, s.survey, m.Clock)
	if err != nil {
		return nil, "", err
	}
	most = data.Minority(pod)
	if len(most) == 0 {
		return nil, "", nil
	}
	return most, fmt.Sprintf("at revision %d its data differs from that of %s, which have the same data", data.Revision, strings.Join(most, " and ")), nil
}

// corrupt reports whether etcd has raised CORRUPT for any member.
func corrupt(s etcd.Survey) bool {
	return slices.Contains(s.StrayTypes(), rules.Corrupt) || slices.ContainsFunc(s.Members, func(m etcd.Member) bool { return slices.Contains(m.Alarms, rules.Corrupt) })
}
