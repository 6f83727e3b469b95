// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// podHandler adds the spread rule's terms to members' pods when they are created. At that
// time the nodes and volumes are known, and no member restarts for the change.
type podHandler struct {
	reader   *observe.Reader
	identity Identity
	clock    clock.PassiveClock
}

// podReview is what is known of a member's pod that is being created.
type podReview struct {
	pod      *corev1.Pod
	owner    owner.Owner
	policy   *v1alpha1.EtcdTopologyPolicy
	settings spread.Settings
	facts    spread.Facts
	// selector is that of the terms.
	selector *metav1.LabelSelector
	now      time.Time
	// stale is true if the pod has a record that was not written for it.
	stale bool
}

func (h *podHandler) decide(ctx context.Context, req admission.Request) Decision {
	pod, err := readPod(req)
	if err != nil {
		return unreadable("pod", req, err)
	}
	review, d := h.observe(ctx, req, pod)
	if review != nil {
		d = review.decide()
	}
	if isProbe(req, pod) {
		d = h.identity.markProbe(d)
	}
	return d
}

// readPod decodes the pod of a request. It matches the case of names, as the paths of
// patches do.
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

// observe reads what the spread rule must know. It returns nil and a Decision for a pod
// that the rule is not asked about.
func (h *podHandler) observe(ctx context.Context, req admission.Request, pod *corev1.Pod) (*podReview, Decision) {
	owner, ok, err := scheduling.OwnerOf(ctx, h.reader, pod)
	if err != nil {
		return nil, unobserved("pod", req, err)
	}
	// A pod of no etcd cluster. Most are.
	if !ok {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	// A cluster that no policy applies to.
	p, d := governing(ctx, h.reader, owner, req, "pod")
	if p == nil {
		return nil, d
	}
	// A pod that this handler has changed: the API server calls again when another webhook
	// changes it afterwards. The first decision stays, even if nodes came or went since. A record of
	// another time or policy, one that contains nothing, and that of the StatefulSet's template decide nothing.
	now := h.clock.Now()
	record, stale, err := h.recorded(ctx, owner, pod, now)
	if err != nil {
		return nil, unobserved("pod", req, err)
	}
	if record.Policy == p.Name && len(record.Terms)+len(record.Notes) > 0 && carriesAll(pod, record.Terms, owner) {
		return nil, Decision{Outcome: Unchanged, Reason: reasons.Covered, Policy: p.Name}
	}
	// A pod that the cluster's selector doesn't select. With an empty selector, or one that
	// misses the pod, a term would separate it from pods of others, or from none.
	if !selects(owner.MemberSelector, pod) {
		return nil, unselected(owner, pod, p)
	}
	settings := topologypolicy.SpreadSettings(p)
	facts, err := scheduling.Facts(ctx, h.reader, owner, pod, settings.ZoneKey)
	var selector *metav1.LabelSelector
	if err == nil {
		selector, err = scheduling.TermSelector(ctx, h.reader, owner, facts.Size)
	}
	if err != nil {
		return nil, Decision{Outcome: FailedOpen, Reason: reasons.Unobserved, Policy: p.Name, Warnings: []string{notApplied("pod", pod.Name, err)}}
	}
	if !selects(selector, pod) {
		return nil, unselected(owner, pod, p)
	}
	return &podReview{pod: pod, owner: owner, policy: p, settings: settings, facts: facts, selector: selector, now: now, stale: stale}, Decision{}
}

// recorded returns the record that this handler has made a moment ago, empty for none. Any other one is stale, and is
// removed from the pod.
func (h *podHandler) recorded(ctx context.Context, o owner.Owner, pod *corev1.Pod, now time.Time) (record annotation.SpreadRecord, stale bool, err error) {
	if _, has := pod.Annotations[v1alpha1.SpreadAnnotation]; !has {
		return record, false, nil
	}
	found, valid := annotation.SpreadRecordOf(pod)
	if valid && found.WrittenAbout(now) {
		ours, err := h.ours(ctx, o, pod)
		if ours || err != nil {
			return found, false, err
		}
	}
	delete(pod.Annotations, v1alpha1.SpreadAnnotation)
	return record, true, nil
}

// ours reports whether the record of a pod is not that of its StatefulSet's template, which any time may have.
func (h *podHandler) ours(ctx context.Context, o owner.Owner, pod *corev1.Pod) (bool, error) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "StatefulSet" {
		return true, nil
	}
	var sts appsv1.StatefulSet
	found, err := h.reader.Fetch(ctx, o.Namespace, ref.Name, &sts)
	return !found || !source.HasSpreadRecord(&sts, pod.Annotations[v1alpha1.SpreadAnnotation]), err
}

func unselected(o owner.Owner, pod *corev1.Pod, p *v1alpha1.EtcdTopologyPolicy) Decision {
	return Decision{Outcome: FailedOpen, Reason: reasons.NoSelector, Policy: p.Name, Warnings: []string{
		fmt.Sprintf("pod %s is not spread: the selector of %s doesn't select it", pod.Name, o),
	}}
}

// decide asks the spread rule and answers with a patch, or with a preview in mode Warn.
func (r *podReview) decide() Decision {
	verdict := spread.Evaluate(r.facts, r.settings)
	if r.policy.Spec.Mode == v1alpha1.ModeWarn {
		return r.previewSpread(verdict)
	}
	return r.patchFor(verdict)
}

// previewSpread returns the warnings of a policy in mode Warn, which changes nothing.
func (r *podReview) previewSpread(v spread.Result) Decision {
	d := Decision{Outcome: Warned, Reason: reasons.PolicyWarns, Policy: r.policy.Name, Warnings: []string{
		fmt.Sprintf("EtcdTopologyPolicy %s (mode Warn): pod %s would go to %s", r.policy.Name, r.pod.Name, terms.Describe(v.Terms)),
	}}
	for _, n := range v.Notes {
		d.Warnings = append(d.Warnings, n.Message)
	}
	return d
}

// patchFor returns the patch that gives the pod the verdict's terms and a record of them.
// It leaves out a term that the API server would refuse on this pod, and warns of it.
func (r *podReview) patchFor(v spread.Result) Decision {
	d := Decision{Outcome: Unchanged, Reason: reasons.NothingToDo, Policy: r.policy.Name}
	record := annotation.SpreadRecord{Policy: r.policy.Name, At: r.now}
	notes := slices.Clone(v.Notes)
	var missing []spread.Term
	for _, t := range v.Terms {
		carried := terms.Has(r.pod, t, r.owner)
		if !carried && clashes(r.pod, t) {
			notes = append(notes, policy.NewNote(spread.OwnTerm,
				"the pod has its own spread constraint for %s, and the API server accepts only one; change its labelSelector so that it selects the members", t.TopologyKey))
			continue
		}
		record.Terms = append(record.Terms, t)
		if !carried {
			missing = append(missing, t)
		}
	}
	if len(record.Terms)+len(notes) == 0 && !r.stale {
		return d
	}
	d.Outcome, d.Reason = Patched, reasons.Spread
	record.Add(notes...)
	d.Patch = spreadPatch(r.pod, missing, r.selector, record.String())
	for _, n := range notes {
		d.Warnings = append(d.Warnings, fmt.Sprintf("EtcdTopologyPolicy %s: %s", r.policy.Name, n.Message))
	}
	if len(notes) > 0 {
		d.Reason = notes[0].Reason
	}
	return d
}

// carriesAll reports whether the pod carries all of the terms.
func carriesAll(pod *corev1.Pod, own []spread.Term, o owner.Owner) bool {
	return !slices.ContainsFunc(own, func(t spread.Term) bool { return !terms.Has(pod, t, o) })
}

// selects reports whether a selector selects the pod and is not empty.
func selects(s *metav1.LabelSelector, pod *corev1.Pod) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && terms.Selects(s, pod)
}
