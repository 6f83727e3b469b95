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
	write  rolloutWrite
	owner  owner.Owner
	policy *v1alpha1.EtcdTopologyPolicy
	// well is whether the cluster is well. It is known for a hold that begins.
	well policy.Verdict
}

func (h *rolloutHandler) decide(ctx context.Context, req admission.Request) Decision {
	review, d := h.observe(ctx, req)
	if review == nil {
		return d
	}
	return review.decide()
}

// observe reads what the rollout rule must know. It returns nil and a Decision for a write that the
// rule is not asked about.
func (h *rolloutHandler) observe(ctx context.Context, req admission.Request) (*rolloutReview, Decision) {
	// The controller's own write.
	if isSelf(req, h.self) {
		return nil, Decision{Outcome: Ignored, Reason: reasons.OwnWrite}
	}
	w, err := readRolloutWrite(req, h.reader.Leases.Clock.Now())
	if err != nil {
		return nil, unreadable(req.Kind.Kind, req, err)
	}
	// A step of kubectl etcd, which holds the pods itself and judges the cluster before each step.
	if w.manager == v1alpha1.PluginFieldManager {
		return nil, Decision{Outcome: Ignored, Reason: reasons.PluginWrite}
	}
	// A StatefulSet that is being deleted, and a write by which no pod restarts.
	if w.after.DeletionTimestamp != nil || !w.admission.Held && w.record == nil {
		return nil, Decision{Outcome: Ignored, Reason: reasons.RolloutNotHeld}
	}
	o, found, err := h.reader.OwnerOfStatefulSet(ctx, w.before)
	if err != nil {
		return nil, unobserved(req.Kind.Kind, req, err)
	}
	// No etcd cluster.
	if !found {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	// A cluster that no policy applies to, or whose policy leaves rollouts alone. The controller ends a
	// hold of before.
	p, d := guarding(ctx, h.reader, o, req, req.Kind.Kind, (*v1alpha1.EtcdTopologyPolicySpec).GuardRollouts)
	if p == nil {
		return nil, d
	}
	if p.Spec.GuardRollouts() == v1alpha1.ModeOff {
		return nil, Decision{Outcome: Ignored, Reason: reasons.RolloutGuardOff}
	}
	return h.readFacts(ctx, &rolloutReview{write: w, owner: o, policy: p})
}

// readFacts reads the cluster for a hold that begins. A cluster that can't be read is held: the
// controller reads it again.
func (h *rolloutHandler) readFacts(ctx context.Context, review *rolloutReview) (*rolloutReview, Decision) {
	w := &review.write
	if !w.admission.Begins {
		return review, Decision{}
	}
	for _, a := range []map[string]string{review.owner.Annotations, w.after.Annotations} {
		if reason := observe.ReleaseReason(a); reason != "" {
			return nil, Decision{Outcome: Warned, Reason: rollout.ReleasedByHand, Policy: review.policy.Name, Warnings: []string{
				fmt.Sprintf("the rollout of %s is not held, since the annotation %s releases it: %s", review.owner, v1alpha1.RolloutAnnotation, reason)}}
		}
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
	return review, Decision{}
}

// decide holds the write, or reports in Warn what would be held.
func (r *rolloutReview) decide() Decision {
	w := &r.write
	d := Decision{Outcome: Unchanged, Reason: reasons.RolloutNotHeld, Policy: r.policy.Name}
	enforced := r.policy.Spec.GuardRollouts() == v1alpha1.ModeEnforce
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
		return Decision{Outcome: FailedOpen, Reason: reasons.Undecided, Policy: r.policy.Name, Warnings: []string{notApplied("StatefulSet", w.after.Name, err)}}
	}
	switch {
	case len(d.Patch) > 0:
		d.Outcome = Patched
	case len(d.Warnings) > 0:
		d.Outcome = Warned
	}
	if wrote := annotation.RolloutValueOf(&w.after.Spec.UpdateStrategy); w.admission.Held && !w.admission.Begins && wrote != w.admission.Value {
		d.Warnings = append(d.Warnings, fmt.Sprintf("EtcdTopologyPolicy %s holds the rollout of StatefulSet %s/%s (%s), so the strategy that you wrote applies when it is complete",
			r.policy.Name, w.before.Namespace, w.before.Name, d.Reason))
	}
	return d
}

// warnings returns why the template of a client waits, and how to release it.
func (r *rolloutReview) warnings(enforced bool) []string {
	holds := "holds"
	if !enforced {
		holds = "only warns: it would hold"
	}
	why := fmt.Sprintf("EtcdTopologyPolicy %s %s the rollout of StatefulSet %s/%s: %s. The members restart one at a time when the cluster is well",
		r.policy.Name, holds, r.write.before.Namespace, r.write.before.Name, r.well.Message)
	if !enforced {
		return []string{why}
	}
	return []string{why + ". To restart them now in any case, with your REASON:",
		fmt.Sprintf(`kubectl annotate %s -n %s --overwrite %s="%s REASON"`, r.owner.Target(), r.owner.Namespace, v1alpha1.RolloutAnnotation, v1alpha1.ReleasePrefix)}
}
