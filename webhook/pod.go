// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const podHandler = "pod"

// Pod puts the spread rule's terms into pods of etcd members at their creation.
// Creation is the one moment when the nodes and volumes of now are known and
// nothing restarts for it.
func Pod(r *observe.Reader, self Identity) admission.HandlerFunc {
	return func(ctx context.Context, req admission.Request) admission.Response {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		d := answered(spreadPod(ctx, r, req), req, self)
		d.handler = podHandler
		return respond(d)
	}
}

func spreadPod(ctx context.Context, r *observe.Reader, req admission.Request) decision {
	pod, err := readPod(req)
	if err != nil {
		return unreadable("pod", req, err)
	}
	owner, ok, err := r.OwnerToSpread(ctx, pod)
	if err != nil {
		return unobserved("pod", req, err)
	}
	if !ok {
		return decision{outcome: ignored, reason: reasonNotEtcd}
	}
	match, err := r.PolicyFor(ctx, owner)
	if err != nil {
		return unobserved("pod", req, err)
	}
	if d, none := noPolicy(match, owner); none {
		return d
	}
	d := spreadMember(ctx, r, pod, owner, match.Policy)
	d.policy = match.Policy.Name
	return d
}

// readPod decodes the pod of a request. Names are matched with their case, as
// the paths of patches are.
func readPod(req admission.Request) (*corev1.Pod, error) {
	var pod corev1.Pod
	if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &pod); err != nil {
		return nil, err
	}
	if len(pod.Spec.Containers) == 0 {
		return nil, errors.New("it has no containers")
	}
	if pod.Namespace == "" {
		pod.Namespace = req.Namespace
	}
	return &pod, nil
}

// noPolicy says what becomes of a cluster that no policy acts on.
func noPolicy(match observe.Match, owner observe.Owner) (decision, bool) {
	switch {
	case match.OptedOut:
		return decision{outcome: ignored, reason: reasonOptedOut}, true
	case len(match.Conflict) > 0:
		return decision{outcome: warned, reason: reasonConflict, warnings: []string{conflictWarning(match.Conflict, owner)}}, true
	case match.Policy == nil:
		return decision{outcome: ignored, reason: reasonNoPolicy}, true
	case match.Policy.Spec.Mode == v1alpha1.ModeOff:
		return decision{outcome: ignored, reason: reasonPolicyOff}, true
	}
	return decision{}, false
}

// spreadMember decides what one member's pod gets.
func spreadMember(ctx context.Context, r *observe.Reader, pod *corev1.Pod, owner observe.Owner, p *v1alpha1.EtcdTopologyPolicy) decision {
	record, recorded := observe.SpreadRecordOf(pod)
	if recorded && len(missing(pod, record.Terms, owner.MemberSelector)) == 0 {
		// It has been here before, by reinvocation. What was decided then
		// stands, even if a node came or went in between.
		return decision{outcome: unchanged, reason: reasonCovered}
	}
	if !selects(owner.MemberSelector, pod) {
		// A term whose selector is empty or misses the pod would keep it from
		// other pods than the cluster's, or from none.
		return decision{outcome: failedOpen, reason: reasonNoSelector, warnings: []string{
			fmt.Sprintf("pod %s is not spread: the selector of %s doesn't select it", pod.Name, owner),
		}}
	}
	settings := observe.SpreadSettings(p)
	facts, err := r.SpreadFactsOf(ctx, owner, pod, settings.ZoneKey)
	if err != nil {
		return decision{outcome: failedOpen, reason: reasonUnobserved, warnings: []string{notJudged("pod", pod.Name, err)}}
	}
	verdict := policy.Spread(facts, settings)
	if p.Spec.Mode == v1alpha1.ModeWarn {
		return wouldSpread(pod.Name, p.Name, verdict)
	}
	return spread(pod, owner, p.Name, verdict)
}

func spread(pod *corev1.Pod, owner observe.Owner, policyName string, verdict policy.SpreadVerdict) decision {
	verdict.Terms, verdict.Notes = fitting(pod, owner, verdict)
	d := decision{outcome: unchanged, reason: reasonNothingToDo}
	for _, n := range verdict.Notes {
		d.warnings = append(d.warnings, fmt.Sprintf("EtcdTopologyPolicy %s: %s", policyName, n.Message))
	}
	if len(verdict.Terms)+len(verdict.Notes) == 0 {
		return d
	}
	record := observe.SpreadRecord{Policy: policyName, Terms: verdict.Terms, Notes: verdict.Notes}
	d.patch = spreadPatch(pod, missing(pod, verdict.Terms, owner.MemberSelector), owner.MemberSelector, record.String())
	d.outcome, d.reason = patched, reasonSpread
	if len(verdict.Notes) > 0 {
		d.reason = verdict.Notes[0].Reason
	}
	return d
}

// fitting leaves out the terms that the API server would refuse on this pod.
func fitting(pod *corev1.Pod, owner observe.Owner, v policy.SpreadVerdict) ([]policy.Term, []policy.Note) {
	var terms []policy.Term
	notes := v.Notes
	for _, t := range v.Terms {
		if !observe.Carries(pod, t, owner.MemberSelector) && clashes(pod, t) {
			notes = append(notes, policy.Note{
				Reason:  policy.OwnTerm,
				Message: fmt.Sprintf("the pod has a spread constraint for %s of its own, and a second one is not possible; make its labelSelector select the members", t.TopologyKey),
			})
			continue
		}
		terms = append(terms, t)
	}
	return terms, notes
}

// missing are the terms that the pod doesn't carry.
func missing(pod *corev1.Pod, terms []policy.Term, selector *metav1.LabelSelector) []policy.Term {
	var out []policy.Term
	for _, t := range terms {
		if !observe.Carries(pod, t, selector) {
			out = append(out, t)
		}
	}
	return out
}

func selects(s *metav1.LabelSelector, pod *corev1.Pod) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && observe.Selects(s, pod)
}
