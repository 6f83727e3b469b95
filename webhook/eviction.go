// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// evictionHandler refuses evictions and deletions of members' pods that would leave fewer
// healthy voters than a quorum. It reads pods, leases and budgets from the API server at that
// moment. What it allows it records on a budget, or on a StatefulSet where there is none, so that all
// replicas count it.
type evictionHandler struct {
	reader  *observe.Reader
	records RecordPatcher
	self    string
}

// evictionReview is what is known of a request to evict or delete a member's pod, before the
// cluster is read.
type evictionReview struct {
	request evictionRequest
	owner   owner.Owner
	policy  string
	settle  time.Duration
	mode    v1alpha1.Mode
}

func (h *evictionHandler) decide(ctx context.Context, req admission.Request) Decision {
	review, d := h.observe(ctx, req)
	if review == nil {
		return d
	}
	facts, err := h.reader.Eviction(ctx, req.Namespace, review.request.pod, review.request.uid)
	if err != nil {
		d := unobserved(review.request.what(), req, err)
		d.Policy = review.policy
		return d
	}
	d, err = recordedDecision{
		decide:  func() (Decision, bool) { return review.decide(facts) },
		leaving: func() (client.Object, string) { return facts.Holder, facts.Text },
		reread:  func() error { return facts.Reread(ctx, h.reader) },
	}.make(ctx, h.records)
	busy, is := errors.AsType[*busyError](err)
	switch {
	case err == nil:
		return d
	case !is:
		return review.notRecorded(err.Error())
	}
	return Decision{
		Outcome: Denied, Reason: reasons.BudgetBusy, Policy: review.policy,
		Message: fmt.Sprintf("%s: other clients write %s at the same time, and the %s could not be recorded %s; try again",
			review.owner, holderOf(facts.Holder), review.request.what(), busy),
	}
}

// observe finds the cluster and the policy. It returns nil and a Decision for a request that the
// rule is not asked about.
func (h *evictionHandler) observe(ctx context.Context, req admission.Request) (*evictionReview, Decision) {
	request, err := readEviction(req)
	if err != nil {
		return nil, unreadable(request.what(), req, err)
	}
	// The controller deletes a member that can't be scheduled or that a template may repair. Its evictions are judged as
	// those of any other client.
	if request.deletes && isSelf(req, h.self) {
		return nil, Decision{Outcome: Ignored, Reason: reasons.OwnWrite}
	}
	// Kubernetes deletes pods of failed nodes, of deleted owners and of rollouts.
	if request.deletes && byKubernetes(req) {
		return nil, Decision{Outcome: Ignored, Reason: reasons.KubernetesDeletes}
	}
	// A pod of no etcd cluster. Most are.
	owner, ok, err := h.reader.OwnerOfPodNamed(ctx, req.Namespace, request.pod)
	if err != nil {
		return nil, unobserved(request.what(), req, err)
	}
	if !ok {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	// A cluster that no policy applies to, or whose policy leaves this alone.
	guard := (*v1alpha1.EtcdTopologyPolicySpec).GuardEvictions
	if request.deletes {
		guard = (*v1alpha1.EtcdTopologyPolicySpec).GuardDeletes
	}
	p, d := guarding(ctx, h.reader, owner, req, request.what(), guard)
	if p == nil {
		return nil, d
	}
	mode := guard(&p.Spec)
	if mode == v1alpha1.ModeOff {
		return nil, Decision{Outcome: Ignored, Reason: reasons.GuardOff}
	}
	return &evictionReview{request: request, owner: owner, policy: p.Name, settle: topologypolicy.BudgetSettings(p).Settle, mode: mode}, Decision{}
}

// decide asks the eviction rule. It reports whether what it allows must be recorded.
func (r *evictionReview) decide(e *observe.Eviction) (d Decision, record bool) {
	facts := e.Facts
	facts.Settle = r.settle
	verdict := eviction.Evaluate(facts)
	d = Decision{Outcome: Unchanged, Reason: verdict.Reason, Policy: r.policy}
	enforced := r.mode == v1alpha1.ModeEnforce
	switch {
	case !verdict.Allowed && enforced:
		d.Outcome, d.Message = Denied, verdict.Message
		if verdict.Lost && r.request.deletes { // a deletion by hand may be the repair
			d.Message += fmt.Sprintf("; to delete the pod before that, set spec.disruption.deletes to Warn in EtcdTopologyPolicy %s, and to Enforce again after it", r.policy)
		}
		return d, false
	case !verdict.Allowed:
		d.Outcome = Warned
		d.Warnings = []string{fmt.Sprintf("EtcdTopologyPolicy %s: %s", r.policy, verdict.Message)}
		return d, false
	// A dry run leaves no trace, and of an eviction that the budget refuses next nothing is to
	// be counted.
	case !verdict.Record || !enforced || r.request.dryRun || e.Blocked && !r.request.deletes:
		return d, false
	case e.Holder == nil:
		d.Outcome, d.Reason = Warned, reasons.EvictionNotRecorded
		d.Warnings = []string{fmt.Sprintf("no disruption budget selects the members of %s, and they have no StatefulSet, so the %s %s is not recorded: "+
			"only the current pods count, and two evictions at the same time don't know of each other", r.owner, r.request.what(), r.request.pod)}
		return d, false
	}
	return d, true
}

// notRecorded lets a request pass that was allowed and that other requests won't know of.
func (r *evictionReview) notRecorded(why string) Decision {
	return Decision{Outcome: FailedOpen, Reason: reasons.EvictionNotRecorded, Policy: r.policy, Warnings: []string{
		fmt.Sprintf("the %s %s is allowed, but not recorded: %s", r.request.what(), r.request.pod, why),
	}}
}
