// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// rolloutHandler holds the rollout of a new pod template by the StatefulSet's partition. It only
// ever holds, and keeps the record of a restart that was requested. The controller, which writes as self, releases the
// pods one at a time.
type rolloutHandler struct {
	reader *observe.Reader
	self   string
}

// rolloutReview is what is known of a write of a cluster's StatefulSet.
type rolloutReview struct {
	write rolloutWrite
	owner owner.Owner
	// policy is nil if none applies.
	policy *v1alpha1.EtcdTopologyPolicy
	// unguarded is true for a rollout that is held although no policy holds it any more: only the
	// controller releases it.
	unguarded bool
	// well is whether the cluster is well. It is known for a hold that begins.
	well policy.Verdict
}

func (h *rolloutHandler) decide(ctx context.Context, req admission.Request) Decision {
	// The controller's own write.
	if isSelf(req, h.self) {
		return Decision{Outcome: Ignored, Reason: reasons.OwnWrite}
	}
	w, err := readRolloutWrite(req, h.reader.Leases.Clock.Now())
	if err != nil {
		return unreadable(req.Kind.Kind, req, err)
	}
	// A step of kubectl etcd, which holds the pods itself and judges the cluster before each step.
	if w.manager == v1alpha1.PluginFieldManager {
		return Decision{Outcome: Ignored, Reason: reasons.PluginWrite}
	}
	if w.after.DeletionTimestamp != nil {
		return Decision{Outcome: Ignored, Reason: reasons.RolloutNotHeld}
	}
	review, d := h.observe(ctx, req, w)
	if review != nil {
		d = review.decide()
	}
	return w.keepRestart(req, h.warnSeveral(ctx, req, &w, d))
}

// observe reads what the rollout rule must know. It returns nil and a Decision for a write that the
// rule is not asked about.
func (h *rolloutHandler) observe(ctx context.Context, req admission.Request, w rolloutWrite) (*rolloutReview, Decision) {
	// A write by which no pod restarts.
	if !w.admission.Held && w.record == nil {
		return nil, Decision{Outcome: Ignored, Reason: reasons.RolloutNotHeld}
	}
	review := &rolloutReview{write: w, owner: owner.OfStatefulSet(w.before)}
	d := h.findPolicy(ctx, req, review)
	switch mode := review.mode(); {
	case w.creates && mode != v1alpha1.ModeOff:
		return h.readCreated(ctx, req, review)
	case mode == v1alpha1.ModeEnforce:
		return h.readFacts(ctx, review)
	case w.record != nil:
		review.unguarded = true
		review.well = policy.Refuse(rollout.Unguarded, "no policy that holds it is known now")
		return review, Decision{}
	case mode == v1alpha1.ModeWarn:
		return h.readFacts(ctx, review)
	}
	return nil, d
}

// findPolicy reads the cluster of the StatefulSet and the policy that guards its rollouts. Without one
// that holds or warns, it returns the Decision on a write of a rollout that is not held.
func (h *rolloutHandler) findPolicy(ctx context.Context, req admission.Request, review *rolloutReview) Decision {
	o, found, err := h.reader.OwnerOfStatefulSet(ctx, review.write.before)
	switch {
	case err != nil:
		return unobserved(req.Kind.Kind, req, err)
	case !found:
		return Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	var d Decision
	review.owner = o
	review.policy, d = guarding(ctx, h.reader, o, req, req.Kind.Kind, (*v1alpha1.EtcdTopologyPolicySpec).GuardRollouts)
	if review.policy != nil && review.mode() == v1alpha1.ModeOff {
		return Decision{Outcome: Ignored, Reason: reasons.RolloutGuardOff}
	}
	return d
}

// mode returns what the policy does with rollouts, Off without one.
func (r *rolloutReview) mode() v1alpha1.Mode {
	if r.policy == nil {
		return v1alpha1.ModeOff
	}
	return r.policy.Spec.GuardRollouts()
}

// readFacts reads the cluster for a hold that begins. A cluster that can't be read is held: the
// controller reads it again.
func (h *rolloutHandler) readFacts(ctx context.Context, review *rolloutReview) (*rolloutReview, Decision) {
	w := &review.write
	if !w.admission.Begins {
		return review, Decision{}
	}
	if d, released := review.released(); released {
		return nil, d
	}
	cluster, err := h.reader.Cluster(ctx, review.owner)
	if err != nil {
		review.well = policy.Refuse(reasons.Unobserved, "the cluster can't be read now: %v", err)
		return review, Decision{}
	}
	if cluster.Single() {
		return nil, Decision{Outcome: Ignored, Reason: rollout.OneMember}
	}
	cluster.Operation = ""
	if cluster.SizeUnknown != "" {
		review.well = policy.Refuse(policy.SizeUnknown, "it is not known which other members the cluster has: %s", cluster.SizeUnknown)
		return review, Decision{}
	}
	review.well = policy.Precondition(cluster, "")
	if h.movesPeers(ctx, review) {
		review.well = policy.Refuse(rollout.PeersMove, "with the new template, the members listen for peers on another scheme or port, so members that restart one by one would lose each other")
	}
	return review, Decision{}
}

// movesPeers reports whether pods that run listen for peers on another scheme or port than the template that is
// written. If they can't be read, the two templates decide.
func (h *rolloutHandler) movesPeers(ctx context.Context, review *rolloutReview) bool {
	w := &review.write
	held := w.record != nil && w.record.Reason == rollout.PeersMove.Name()
	if !held && !w.movesPeers(review.owner) {
		return false
	}
	stay, err := rollouts.PeersStay(ctx, h.reader, review.owner, w.after)
	return err != nil || !stay
}

// readCreated holds a StatefulSet that is created over pods that run. At this moment they belong to no
// StatefulSet, so the cluster is not judged yet.
func (h *rolloutHandler) readCreated(ctx context.Context, req admission.Request, review *rolloutReview) (*rolloutReview, Decision) {
	w := &review.write
	adopts, err := rollouts.AdoptsPods(ctx, h.reader, w.after)
	switch {
	case err != nil:
		return nil, unobserved(req.Kind.Kind, req, err)
	case !adopts:
		return nil, Decision{Outcome: Ignored, Reason: reasons.RolloutNotHeld}
	case w.admission.Value.Partition <= 1 && h.isSingle(ctx, review.owner):
		return nil, Decision{Outcome: Ignored, Reason: rollout.OneMember}
	}
	if d, released := review.released(); released {
		return nil, d
	}
	review.well = policy.Allow(rollout.NotObserved, "the StatefulSet is new")
	return review, Decision{}
}

// isSingle reports whether a cluster is known to have one member. A StatefulSet of one may be a part of a larger
// one, whose other parts are created in the same moment.
func (h *rolloutHandler) isSingle(ctx context.Context, o owner.Owner) bool {
	cluster, err := h.reader.Cluster(ctx, o)
	return err == nil && cluster.Single()
}

// released returns a warning if a user has released the rollouts of the cluster.
func (r *rolloutReview) released() (Decision, bool) {
	for _, a := range []map[string]string{r.owner.Annotations, r.write.after.Annotations} {
		if reason := rollouts.ReleaseReason(a); reason != "" {
			return Decision{Outcome: Warned, Reason: rollout.ReleasedByHand, Policy: r.policy.Name, Warnings: []string{
				fmt.Sprintf("the rollout of %s is not held, since the annotation %s releases it: %s", r.owner, v1alpha1.RolloutAnnotation, reason)}}, true
		}
	}
	return Decision{}, false
}

// decide holds the write, or reports in Warn what would be held.
func (r *rolloutReview) decide() Decision {
	w := &r.write
	d := Decision{Outcome: Unchanged, Reason: reasons.RolloutNotHeld}
	if r.policy != nil {
		d.Policy = r.policy.Name
	}
	enforced := r.unguarded || r.mode() == v1alpha1.ModeEnforce
	switch {
	case w.admission.Begins:
		d.Reason = r.well.Reason
		if !r.well.Allowed {
			d.Warnings = r.warnings(enforced)
		}
	case w.admission.Held:
		if found, ok := reasons.Find(w.record.Reason); ok {
			d.Reason = found
		}
	}
	if !enforced {
		if len(d.Warnings) > 0 {
			d.Outcome = Warned
		}
		return d
	}
	var err error
	if d.Patch, err = w.patch(w.recorded(d.Reason)); err != nil {
		return Decision{Outcome: FailedOpen, Reason: reasons.Undecided, Policy: d.Policy, Warnings: []string{notApplied("StatefulSet", w.after.Name, err)}}
	}
	switch {
	case len(d.Patch) > 0:
		d.Outcome = Patched
	case len(d.Warnings) > 0:
		d.Outcome = Warned
	}
	d.Warnings = append(d.Warnings, r.overwritten(d.Reason)...)
	return d
}
