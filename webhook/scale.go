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
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// scaleHandler guards the replicas of etcd clusters: of an Etcd, of a StatefulSet and of the
// scale subresource of both, whatever the client. It refuses writes that take a quorum of the
// voters, and changes nothing.
type scaleHandler struct {
	reader *observe.Reader
}

// scaleReview is what is known of a write of a cluster's replicas.
type scaleReview struct {
	write  observe.ScaleWrite
	owner  owner.Owner
	policy *v1alpha1.EtcdTopologyPolicy
	facts  scale.Facts
	// spread is what the spread rule notes on the number of members that is asked for.
	spread []policy.Note
}

func (h *scaleHandler) decide(ctx context.Context, req admission.Request) Decision {
	review, d := h.observe(ctx, req)
	if review == nil {
		return d
	}
	return review.decide()
}

// observe reads what the scale rule must know. It returns nil and a Decision for a write that the
// rule is not asked about.
func (h *scaleHandler) observe(ctx context.Context, req admission.Request) (*scaleReview, Decision) {
	write, going, err := readScaleWrite(req)
	if err != nil {
		return nil, unreadable(req.Kind.Kind, req, err)
	}
	// A write that leaves the replicas as they are, of an object that is being deleted, or with a
	// number that the API server refuses.
	if write.Asked == write.Now || write.Asked < 0 || going {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NothingToDo}
	}
	owner, found, err := h.reader.OwnerOfScale(ctx, write)
	if err != nil {
		return nil, unobserved(req.Kind.Kind, req, err)
	}
	// No etcd cluster.
	if !found {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	// A cluster that no policy applies to, or whose policy leaves the replicas alone.
	p, d := guarding(ctx, h.reader, owner, req, req.Kind.Kind, (*v1alpha1.EtcdTopologyPolicySpec).GuardScale)
	if p == nil {
		return nil, d
	}
	if p.Spec.GuardScale() == v1alpha1.ModeOff {
		return nil, Decision{Outcome: Ignored, Reason: reasons.ScaleGuardOff}
	}
	review := &scaleReview{write: write, policy: p}
	if review.facts, review.owner, err = h.reader.ScaleFacts(ctx, write); err != nil {
		return nil, unobserved(req.Kind.Kind, req, err)
	}
	// A cluster that grows, unless it is by a step that was judged as a whole before the first.
	if write.Asked > write.Now && !review.facts.Declared {
		if review.spread, err = h.spreadNotes(ctx, review.owner, p, review.facts.Asked); err != nil {
			return nil, unobserved(req.Kind.Kind, req, err)
		}
	}
	return review, Decision{}
}

// spreadNotes returns what the spread rule notes on a cluster of that size.
func (h *scaleHandler) spreadNotes(ctx context.Context, owner owner.Owner, p *v1alpha1.EtcdTopologyPolicy, size int) ([]policy.Note, error) {
	pod, found, err := h.reader.MemberPod(ctx, owner)
	if err != nil || !found {
		return nil, err
	}
	settings := observe.SpreadSettings(p)
	facts, err := h.reader.SpreadFactsOfCluster(ctx, owner, pod, settings.ZoneKey)
	if err != nil {
		return nil, err
	}
	facts.Size = size
	return spread.Evaluate(facts, settings).Notes, nil
}

// written names the object of the write.
func (r *scaleReview) written() string {
	if !r.owner.Spans() {
		return r.owner.String()
	}
	return fmt.Sprintf("StatefulSet %s/%s, part of the cluster of StatefulSets %s,", r.write.Namespace, r.write.Name, r.owner.WorkloadNames())
}

// decide asks the scale rule. In Warn, a refusal becomes a warning.
func (r *scaleReview) decide() Decision {
	verdict := scale.Evaluate(r.facts)
	d := Decision{Outcome: Unchanged, Reason: verdict.Reason, Policy: r.policy.Name}
	what := fmt.Sprintf("cannot set the replicas of %s from %d to %d: %s", r.written(), r.write.Now, r.write.Asked, verdict.Message)
	switch {
	case verdict.Allowed:
	case r.policy.Spec.GuardScale() == v1alpha1.ModeWarn:
		d.Warnings = append(d.Warnings, fmt.Sprintf("EtcdTopologyPolicy %s only warns: %s", r.policy.Name, what))
	default:
		d.Outcome, d.Message = Denied, what
		return d
	}
	for _, n := range append(verdict.Notes, r.spread...) {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s", r.owner, n.Message))
	}
	if len(d.Warnings) > 0 {
		d.Outcome = Warned
	}
	return d
}
