// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// PlanScale checks whether a scale may begin, and returns its plan. The error is a *RefusedError where
// it may not, for example because something else manages the members. The Change is nil where the cluster has that size already.
func (m *Members) PlanScale(ctx context.Context, target int, keepClaims bool) (*Change, operate.Plan, error) {
	if err := mayScale(m.Owner); err != nil {
		return nil, operate.Plan{}, err
	}
	what := fmt.Sprintf("scale %s to %s", m.Owner, policy.Count(target, "member"))
	if err := tooMany(what, target); err != nil {
		return nil, operate.Plan{}, err
	}
	s, err := m.observeFirst(ctx, what, target)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	j := scaleChange(s, target, keepClaims)
	f := &operate.Findings{}
	m.checkState(ctx, s, "", f)
	m.checkSize(ctx, s, target, f)
	if target == s.Replicas && len(f.Refusals) == 0 {
		return nil, m.already(target), nil
	}
	if err := m.checkScale(ctx, s, j, f); err != nil {
		return nil, operate.Plan{}, err
	}
	if err := m.record(ctx, s, j); err != nil {
		f.Refuse("%v: %s", err, m.manualInstructions())
	}
	if err := f.Refused(what); err != nil {
		return nil, operate.Plan{}, err
	}
	if way := m.Owner.Membership().ScaleHow; way != "" {
		f.Warn("%s.", strings.ToUpper(way[:1])+way[1:])
	}
	return j, operate.Plan{
		Title: fmt.Sprintf("scale %s from %d to %s", m.Owner, s.Replicas, policy.Count(target, "member")),
		Facts: f.Facts, Steps: planSteps(s, j.Record), Warnings: f.Warnings, Needs: m.configNeeds(j),
	}, nil
}

// scaleChange returns the change of a scale.
func scaleChange(s *observation, target int, keepClaims bool) *Change {
	j := &Change{Record: membership.Record{
		Operation: membership.ScaleOut, Target: target, Replicas: s.Replicas, OnDelete: s.OnDelete, Partition: s.Partition, KeepClaims: keepClaims,
	}}
	if target < s.Replicas {
		j.Operation = membership.ScaleIn
	}
	return j
}

// checkScale checks what one direction of a scale needs.
func (m *Members) checkScale(ctx context.Context, s *observation, j *Change, f *operate.Findings) error {
	if j.Operation == membership.ScaleIn {
		if j.KeepClaims {
			checkRetentionPolicy(s.sts, f)
		}
		m.checkUser(ctx, s, f)
		return nil
	}
	if j.Target > s.Replicas {
		if err := m.checkScaleOut(ctx, s, j.Target, f); err != nil {
			return err
		}
	}
	m.checkUser(ctx, s, f)
	m.checkConnected(ctx, s, "", f)
	return nil
}

// already returns the plan of a scale to the size that the cluster has.
func (m *Members) already(size int) operate.Plan {
	return operate.Plan{Already: fmt.Sprintf("%s already has %s.", m.Owner, policy.Count(size, "member"))}
}

// checkRetentionPolicy refuses to keep volume claims that the StatefulSet's controller deletes.
func checkRetentionPolicy(sts *appsv1.StatefulSet, f *operate.Findings) {
	if operate.DeletesClaims(sts) {
		f.Refuse("its persistentVolumeClaimRetentionPolicy deletes the claims of removed pods (whenScaled: Delete), so they can't be kept: %s", retainClaims(sts))
	}
}

// retainClaims returns the command after which the claims of replicas that go stay.
func retainClaims(sts *appsv1.StatefulSet) string {
	return fmt.Sprintf(`kubectl patch statefulset %s -n %s --type merge -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain"}}}'`, sts.Name, sts.Namespace)
}

// stopHint returns how all members stop without a loss of data.
func stopHint(sts *appsv1.StatefulSet) string {
	stop := fmt.Sprintf("kubectl scale statefulset/%s --replicas 0 -n %s", sts.Name, sts.Namespace)
	switch {
	case len(sts.Spec.VolumeClaimTemplates) == 0:
		return "the StatefulSet has no volume claim templates, so the members' data may end with their pods. Take a snapshot first if you want to stop all of them"
	case operate.DeletesClaims(sts):
		return "with 0 replicas, the StatefulSet deletes the volume claims of all members (whenScaled: Delete). To stop all of them and keep their data, take a snapshot, then run " +
			retainClaims(sts) + " and then " + stop
	}
	return "to stop all of them and keep their data, take a snapshot and run " + stop
}

// tooMany refuses a size that is too large to read all of its ordinals.
func tooMany(what string, target int) error {
	if target <= policy.MaxScale {
		return nil
	}
	return &operate.RefusedError{What: what, Why: []string{fmt.Sprintf(
		"each write would wait for %d of them: etcd's documentation advises %d members at most, and %d is the limit here", policy.Quorum(target), policy.AdvisedMembers, policy.MaxScale)}}
}

// refuseEven refuses an even size.
func refuseEven(target int, f *operate.Findings) {
	if even := policy.EvenSize(target, "members"); even != "" {
		f.Refuse("%s, and cost more: choose %d or %d", even, target-1, target+1)
	}
}

// observeFirst observes before an operation. Without a quorum it refuses.
func (m *Members) observeFirst(ctx context.Context, what string, size int) (*observation, error) {
	s, err := m.observe(ctx, nil, size)
	if none, ok := errors.AsType[*noQuorumError](err); ok {
		return nil, &operate.RefusedError{What: what, Why: []string{memberlist.NoQuorum(none.survey, m.Owner)}}
	}
	return s, err
}

// record sets what the journal needs.
func (m *Members) record(ctx context.Context, s *observation, j *Change) error {
	written := s.template
	if j.Operation != membership.ScaleIn {
		if s.editErr != nil {
			return s.editErr
		}
		edited := s.template.clone()
		if err := s.setBootstrap(ctx, m, &edited, s.Bootstrap); err != nil {
			return err
		}
		// Every value that is written is recorded, also where it doesn't change.
		written = s.probeTemplate
	}
	j.journal.Began = m.Clock.Now().UTC()
	j.journal.Object = s.sts.UID
	var err error
	j.Found, err = foundIn(s.sts, s.template, s.configs[len(s.configs)-1], written)
	return err
}

// manualInstructions returns what a user can do where the template can't be edited.
func (m *Members) manualInstructions() string {
	if way := m.Owner.Membership().ScaleHow; way != "" && m.Owner.Product().Membership.ChartValue != "" {
		return way
	}
	return "write --initial-cluster and --initial-cluster-state into the pod template as flags or variables, without --config-file"
}

// heldBack returns what holds a rollout back, empty for unknown.
func (s *observation) heldBack() string {
	switch {
	case s.OnDelete:
		return " (OnDelete: each pod changes when it is deleted)"
	case s.Partition > 0:
		return fmt.Sprintf(" (partition %d: at 0 the pods restart one by one)", s.Partition)
	}
	return ""
}

// checkHeld refuses while etcd-webhook holds the rollout: the strategy that an operation would restore at
// its end is not the author's then.
func (m *Members) checkHeld(ctx context.Context, s *observation, f *operate.Findings) {
	if rollouts.Holds(s.sts) {
		f.Refuse("etcd-webhook holds the rollout of StatefulSet %s: wait until it is complete (kubectl describe statefulset %s -n %s shows what it waits for)%s",
			s.sts.Name, s.sts.Name, s.sts.Namespace, m.orUndo(ctx, s, ", or undo it: "))
	}
}

// orUndo returns how the template is restored that the healthy members run, with a text before it, empty for unknown.
func (m *Members) orUndo(ctx context.Context, s *observation, before string) string {
	var healthy []*corev1.Pod
	for _, p := range s.Members {
		if p.Healthy && p.Ordinal >= 0 && p.Ordinal < len(s.Ordinals) && s.pods[s.Ordinals[p.Ordinal].Pod] != nil {
			healthy = append(healthy, s.pods[s.Ordinals[p.Ordinal].Pod])
		}
	}
	if undo := rollouts.UndoCommand(ctx, m.Kube, s.sts, healthy, ""); undo != "" {
		return before + undo
	}
	return ""
}

// checkSize refuses invalid sizes, and a StatefulSet that doesn't match the members.
func (m *Members) checkSize(ctx context.Context, s *observation, target int, f *operate.Findings) {
	m.checkHeld(ctx, s, f)
	checkUnmarked(s, f)
	if target == 0 {
		f.Refuse("a cluster can't have 0 members: %s", stopHint(s.sts))
	}
	refuseEven(target, f)
	switch n := len(s.Members); {
	case n < s.Replicas:
		f.Refuse("%s: make them equal first: %s", s.countMismatch(), s.removalHint())
	case n > s.Replicas:
		f.Refuse("%s: make them equal first: set the replicas to %d, or remove members that won't come back. kubectl etcd check statefulset/%s --only members -n %s shows which", s.countMismatch(), n, s.sts.Name, s.sts.Namespace)
	}
	for _, replica := range s.Ordinals[:min(s.Replicas, len(s.Ordinals))] {
		if replica.UID != "" && !replica.Updated {
			f.Refuse("%s does not have the StatefulSet's latest template: a rollout is under way or held back%s; finish it first", replica.Pod, s.heldBack())
		}
	}
}

// podsWithoutMember returns the ordinals of the StatefulSet's pods that have no member.
func (s *observation) podsWithoutMember() []int {
	var ordinals []int
	for ordinal := range min(s.Replicas, len(s.Ordinals)) {
		if !slices.ContainsFunc(s.Members, func(p membership.Peer) bool { return p.Ordinal == ordinal }) {
			ordinals = append(ordinals, ordinal)
		}
	}
	return ordinals
}

// countMismatch returns the numbers of members and replicas as text.
func (s *observation) countMismatch() string {
	return fmt.Sprintf("etcd has %s and the StatefulSet asks for %d", policy.Count(len(s.Members), "member"), s.Replicas)
}

// removalHint returns the command that adds members for pods without one, or that removes those pods
// where they are the last: fewer replicas remove the last pods, members or not. The command declares
// how many members etcd has, since admission refuses it otherwise.
func (s *observation) removalHint() string {
	out := s.podsWithoutMember()
	if n := s.Replicas - len(out); len(out) > 0 && out[0] < n {
		pod := s.Ordinals[out[0]].Pod
		return fmt.Sprintf("%s has no member: kubectl etcd member replace statefulset/%s %s -n %s gives it one", pod, s.sts.Name, pod, s.sts.Namespace)
	}
	n := s.Replicas - len(out)
	scale := step.Scale{StatefulSet: s.sts.Name, Replicas: n, Declared: len(s.Members) <= n}
	return scale.Command(step.Flags{Kubectl: "-n " + s.sts.Namespace})
}
