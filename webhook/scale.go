// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// scaleHandler guards the replicas of etcd clusters: of an Etcd, of a StatefulSet and of the
// scale subresource of both, whatever the client. It refuses writes that take a quorum of the
// voters, and changes nothing. What it allows it records on a budget, as the guard of evictions does.
type scaleHandler struct {
	reader  *observe.Reader
	records RecordPatcher
}

// scaleReview is what is known of a write of a cluster's replicas.
type scaleReview struct {
	write  observe.ScaleWrite
	scale  *observe.Scale
	policy *v1alpha1.EtcdTopologyPolicy
	dryRun bool
	// spread is what the spread rule notes on the number of members that is asked for.
	spread []policy.Note
}

func (h *scaleHandler) decide(ctx context.Context, req admission.Request) Decision {
	review, d := h.observe(ctx, req)
	if review == nil {
		return d
	}
	d, err := recordedDecision{
		decide:  review.decide,
		leaving: func() (client.Object, string) { return review.scale.Budget(), review.scale.Text },
		reread:  func() error { return review.scale.Reread(ctx, h.reader) },
	}.make(ctx, h.records)
	busy, is := errors.AsType[*busyError](err)
	switch {
	case err == nil:
		return d
	case !is:
		d.Outcome, d.Reason = FailedOpen, reasons.EvictionNotRecorded
		d.Warnings = append(d.Warnings, review.notRecorded(err.Error()))
		return d
	}
	return Decision{
		Outcome: Denied, Reason: reasons.BudgetBusy, Policy: review.policy.Name,
		Message: fmt.Sprintf("cannot set the replicas of %s: other clients write the disruption budget of the members at the same time, and the members that leave could not be recorded %s; try again",
			review.written(), busy),
	}
}

// observe reads what the scale rule must know. It returns nil and a Decision for a write that the
// rule is not asked about.
//
//nolint:gocyclo // one return for each kind of request that is not decided, as in the other handlers
func (h *scaleHandler) observe(ctx context.Context, req admission.Request) (*scaleReview, Decision) {
	write, going, err := readScaleWrite(req)
	if err != nil {
		return nil, unreadable(req.Kind.Kind, req, err)
	}
	// A write that leaves the replicas and their claims as they are, of an object that is being deleted, or with a
	// number that the API server refuses.
	same := write.Creates == nil && write.Asked == write.Now && write.First == write.FirstNow && !write.BeginsToDelete()
	if same || write.Asked < 0 || write.First < 0 || going {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NothingToDo}
	}
	owner, found, err := h.reader.OwnerOfScale(ctx, write)
	if err != nil {
		return nil, unobserved(req.Kind.Kind, req, err)
	}
	// No etcd cluster, or a part of one that starts: the others stay as they are.
	if !found || write.Creates != nil && owner.Spans() {
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
	review := &scaleReview{write: write, policy: p, dryRun: req.DryRun != nil && *req.DryRun}
	if review.scale, err = h.reader.Scale(ctx, write); err != nil {
		return nil, unobserved(req.Kind.Kind, req, err)
	}
	facts := review.scale.Facts
	// A new cluster, of which nothing exists yet.
	if write.Creates != nil && facts.Now == 0 && facts.Held == 0 {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NothingToDo}
	}
	// A cluster that grows, unless it is by a step that was judged as a whole before the first, or
	// is created, which another handler warns of.
	if write.Creates == nil && write.Asked > write.Now && !facts.Declared {
		if review.spread, err = h.spreadNotes(ctx, review.scale.Owner, p, facts.Asked); err != nil {
			return nil, unobserved(req.Kind.Kind, req, err)
		}
	}
	return review, Decision{}
}

// spreadNotes returns what the spread rule notes on a cluster of that size.
func (h *scaleHandler) spreadNotes(ctx context.Context, owner owner.Owner, p *v1alpha1.EtcdTopologyPolicy, size int) ([]policy.Note, error) {
	pod, found, err := scheduling.MemberPod(ctx, h.reader, owner)
	if err != nil || !found {
		return nil, err
	}
	settings := topologypolicy.SpreadSettings(p)
	facts, err := scheduling.FactsOfSize(ctx, h.reader, owner, pod, settings.ZoneKey, size)
	if err != nil {
		return nil, err
	}
	return spread.Evaluate(facts, settings).Notes, nil
}

// written names the object of the write.
func (r *scaleReview) written() string {
	if o := r.scale.Owner; !o.Spans() {
		return o.String()
	}
	return fmt.Sprintf("StatefulSet %s/%s, part of the cluster of StatefulSets %s,", r.write.Namespace, r.write.Name, r.scale.Owner.WorkloadNames())
}

// what returns what the write does, as a clause after cannot.
func (r *scaleReview) what() string {
	switch w := r.write; {
	case w.Creates != nil:
		return fmt.Sprintf("create %s with %s, since members of one with its name exist", r.written(), policy.Count(w.Asked, "replica"))
	case w.First != w.FirstNow:
		return fmt.Sprintf("set the first ordinal of %s from %d to %d, with %s", r.written(), w.FirstNow, w.First, policy.Count(w.Asked, "replica"))
	}
	if r.write.Asked == r.write.Now {
		return "change " + r.written()
	}
	return fmt.Sprintf("set the replicas of %s from %d to %d", r.written(), r.write.Now, r.write.Asked)
}

// passes returns the sentence about a write that the rule refuses and that goes on: the way of the refusal is for the
// state before it.
func (r *scaleReview) passes() string {
	if w := r.write; w.Creates != nil || w.First != w.FirstNow || w.Asked == w.Now {
		return "The write goes on: undo it before you use this way"
	}
	return fmt.Sprintf("The write goes on: set the replicas to %d again before you use this way", r.write.Now)
}

// decide asks the scale rule. In Warn, a refusal becomes a warning. It reports whether the members
// that leave must be recorded.
func (r *scaleReview) decide() (d Decision, record bool) {
	verdict := scale.Evaluate(r.scale.Facts)
	d = Decision{Outcome: Unchanged, Reason: verdict.Reason, Policy: r.policy.Name}
	what := fmt.Sprintf("cannot %s: %s", r.what(), verdict.Message)
	enforced := r.policy.Spec.GuardScale() != v1alpha1.ModeWarn
	switch {
	case verdict.Allowed:
	case !enforced:
		d.Warnings = append(d.Warnings, fmt.Sprintf("EtcdTopologyPolicy %s only warns: %s. %s", r.policy.Name, what, r.passes()))
	default:
		d.Outcome, d.Message = Denied, what
		return d, false
	}
	for _, n := range append(verdict.Notes, r.spread...) {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s", r.scale.Owner, n.Message))
	}
	// A step whose member has left etcd, and the stop of all members, take no voter from the others.
	record = enforced && !r.dryRun && r.scale.Text != "" && !r.scale.Facts.Declared && r.scale.Facts.Asked > 0
	if record && r.scale.Budget() == nil {
		record = false
		d.Warnings = append(d.Warnings, r.notRecorded("no disruption budget selects the members"))
	}
	if len(d.Warnings) > 0 {
		d.Outcome = Warned
	}
	return d, record
}

// notRecorded warns of a write that other requests don't know of.
func (r *scaleReview) notRecorded(why string) string {
	return fmt.Sprintf("%s: the members that leave are not recorded, so evictions at this moment don't count them: %s", r.scale.Owner, why)
}
