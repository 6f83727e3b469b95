// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// ownerHandler warns the client that creates an etcd cluster which policy applies to the
// members and which terms they will get. It changes nothing: terms in a StatefulSet's
// template would restart every member when they come or go.
type ownerHandler struct {
	reader *observe.Reader
}

// ownerReview is what is known of an etcd cluster that is being created.
type ownerReview struct {
	policy   *v1alpha1.EtcdTopologyPolicy
	settings spread.Settings
	// facts are about the first member's pod.
	facts spread.Facts
	// elsewhere counts the members that are listed and not known.
	elsewhere int
}

func (h *ownerHandler) decide(ctx context.Context, req admission.Request) Decision {
	review, d := h.observe(ctx, req)
	if review == nil {
		return d
	}
	return review.warnOwner()
}

// observe reads what the spread rule must know of the cluster's first pod. It returns nil
// and a Decision for an object that the rule is not asked about.
func (h *ownerHandler) observe(ctx context.Context, req admission.Request) (*ownerReview, Decision) {
	owner, sts, pod, ok, err := readOwner(req)
	if err != nil {
		return nil, unreadable(req.Kind.Kind, req, err)
	}
	// No etcd cluster, or one whose Etcd was warned of.
	if !ok {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	// The members of a cluster may be in several StatefulSets.
	if sts != nil {
		if owner, err = h.reader.WithPeers(ctx, sts, owner); err != nil {
			return nil, unobserved(req.Kind.Kind, req, err)
		}
	}
	// A cluster that no policy applies to.
	p, d := governing(ctx, h.reader, owner, req, req.Kind.Kind)
	if p == nil {
		return nil, d
	}
	settings := topologypolicy.SpreadSettings(p)
	facts, err := scheduling.Facts(ctx, h.reader, owner, pod, settings.ZoneKey)
	if err != nil {
		return nil, unobserved(req.Kind.Kind, req, err)
	}
	return &ownerReview{policy: p, settings: settings, facts: facts, elsewhere: owner.Size() - int(owner.Replicas)}, Decision{}
}

// warnOwner asks the spread rule and returns its verdict as warnings.
func (r *ownerReview) warnOwner() Decision {
	verdict := spread.Evaluate(r.facts, r.settings)
	d := Decision{Outcome: Warned, Reason: reasons.Spread, Policy: r.policy.Name}
	will := ": members go"
	if r.policy.Spec.Mode == v1alpha1.ModeWarn {
		d.Reason, will = reasons.PolicyWarns, " (mode Warn): members would go"
	}
	d.Warnings = append(d.Warnings, fmt.Sprintf("EtcdTopologyPolicy %s%s to %s", r.policy.Name, will, terms.Describe(verdict.Terms)))
	for _, n := range verdict.Notes {
		d.Warnings = append(d.Warnings, n.Message)
	}
	if r.elsewhere > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("its members list %d more, which no StatefulSet of the namespace that lists them has yet: the terms do not select those", r.elsewhere))
	}
	return d
}

// readOwner decodes the Etcd or StatefulSet of a request. It returns its owner, the StatefulSet if
// it is one, and the cluster's first pod. It returns false for an object that is no etcd cluster,
// and for a StatefulSet of druid's: the client was warned when it created the Etcd.
func readOwner(req admission.Request) (owner.Owner, *appsv1.StatefulSet, *corev1.Pod, bool, error) {
	if req.Kind.Group == druidv1alpha1.GroupName {
		var etcd druidv1alpha1.Etcd
		if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &etcd); err != nil {
			return owner.Owner{}, nil, nil, false, err
		}
		if etcdconf.DeniesEtcd(&etcd) {
			return owner.Owner{}, nil, nil, false, nil
		}
		etcd.Namespace = req.Namespace
		o := owner.OfEtcd(&etcd, nil)
		return o, nil, owner.PodOfEtcd(o, &etcd), true, nil
	}
	var sts appsv1.StatefulSet
	if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &sts); err != nil {
		return owner.Owner{}, nil, nil, false, err
	}
	sts.Namespace = req.Namespace
	source.ParseOnce(&sts)
	o, ok := owner.Standalone(&sts)
	if !ok {
		return owner.Owner{}, nil, nil, false, nil
	}
	return o, &sts, owner.PodOfStatefulSet(o, &sts), true, nil
}
