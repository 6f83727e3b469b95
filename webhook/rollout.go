// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// rolloutHandler holds the rollout of a new pod template by the StatefulSet's partition. It only
// ever holds. The controller, which writes as self, releases the pods one at a time.
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
	return h.warnSeveral(ctx, req, &w, d)
}

// warnSeveral adds a warning if a rollout of the StatefulSet restarts several members of a cluster at once that
// a policy selects. A write that changes nothing of rollouts has none.
func (h *rolloutHandler) warnSeveral(ctx context.Context, req admission.Request, w *rolloutWrite, d Decision) Decision {
	author, replicas := w.author(), w.asked()
	n := annotation.RestartsAtOnce(&author, replicas)
	if n <= 1 || d.Outcome == FailedOpen || !w.concernsRollouts() {
		return d
	}
	o, found, err := h.reader.OwnerOfStatefulSet(ctx, w.before)
	if err != nil || !found {
		return d
	}
	by, _ := guarding(ctx, h.reader, o, req, req.Kind.Kind, (*v1alpha1.EtcdTopologyPolicySpec).GuardRollouts)
	if by == nil {
		return d
	}
	if len(d.Patch) == 0 && len(d.Warnings) == 0 {
		d.Outcome, d.Reason, d.Policy = Warned, rollout.RestartsSeveral, by.Name
	}
	sts := w.after
	what := fmt.Sprintf("maxUnavailable %s lets a rollout restart %d of the %d pods of StatefulSet %s/%s at once", author.RollingUpdate.MaxUnavailable, n, replicas, sts.Namespace, sts.Name)
	one := ". To restart one at a time:"
	if w.admission.Held && len(d.Patch) > 0 || w.record != nil {
		one = ", but not the one that is held. To restart one at a time after that, too, when it is complete:"
	}
	d.Warnings = append(d.Warnings, what+one, fmt.Sprintf(`kubectl patch statefulset %s -n %s --type merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}'`, sts.Name, sts.Namespace))
	return d
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
		review.well = policy.Refuse(rollout.PeersMove, "the new template listens for peers on another scheme or port, so members that restart one by one would lose each other")
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

// overwritten returns a warning if a client writes another strategy while the rollout is held.
func (r *rolloutReview) overwritten(reason policy.Reason) []string {
	w := &r.write
	wrote := annotation.RolloutValueOf(&w.after.Spec.UpdateStrategy)
	if !w.admission.Held || w.admission.Begins || wrote == w.admission.Value {
		return nil
	}
	when := "when it is complete"
	if r.unguarded {
		when = "then"
	}
	return []string{fmt.Sprintf("%s (%s), so the strategy that you wrote applies %s", r.holds(true), reason, when)}
}

// holds returns the clause that the rollout is held, or would be.
func (r *rolloutReview) holds(enforced bool) string {
	set := fmt.Sprintf("the rollout of StatefulSet %s/%s", r.write.before.Namespace, r.write.before.Name)
	switch {
	case r.unguarded:
		return set + " is held until etcd-webhook releases it"
	case !enforced:
		return fmt.Sprintf("EtcdTopologyPolicy %s only warns: it would hold %s", r.policy.Name, set)
	}
	return fmt.Sprintf("EtcdTopologyPolicy %s holds %s", r.policy.Name, set)
}

// warnings returns why the template of a client waits, and how to release it.
func (r *rolloutReview) warnings(enforced bool) []string {
	if r.well.Reason == rollout.PeersMove {
		return r.peersWarnings(enforced)
	}
	then := "The members restart one at a time when the cluster is well"
	if r.unguarded {
		then = "The members restart by its author's strategy after the settle time"
	}
	why := fmt.Sprintf("%s: %s. %s", r.holds(enforced), r.well.Message, then)
	if !enforced {
		return []string{why}
	}
	return []string{why + ". To restart them now in any case, with your REASON:",
		fmt.Sprintf(`kubectl annotate %s -n %s --overwrite %s="%s REASON"`, r.owner.Target(), r.owner.Namespace, v1alpha1.RolloutAnnotation, v1alpha1.ReleasePrefix)}
}

// peersWarnings returns how all members restart at once, or how to do without where no write stops them all.
func (r *rolloutReview) peersWarnings(enforced bool) []string {
	sts := r.write.before
	if r.owner.InParts() {
		return []string{fmt.Sprintf("%s: %s. Restore the scheme and port of before: members that %s runs can't be restarted at once", r.holds(enforced), r.well.Message, r.owner.WorkloadNames())}
	}
	return []string{
		fmt.Sprintf("%s: %s. To restart all at once, which also updates etcd's member list:", r.holds(enforced), r.well.Message),
		fmt.Sprintf(`kubectl patch statefulset %s -n %s --type merge -p '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}'`, sts.Name, sts.Namespace),
		fmt.Sprintf("kubectl etcd restart %s -n %s --strategy coordinated", r.owner.Target(), r.owner.Namespace),
	}
}
