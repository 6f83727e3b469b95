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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const ownerHandler = "owner"

// Owner tells whoever creates an etcd cluster which policy its members fall
// under and what they will get. It changes nothing: terms in a StatefulSet's
// template would restart every member when they come or go.
func Owner(r *observe.Reader) admission.HandlerFunc {
	return func(ctx context.Context, req admission.Request) admission.Response {
		ctx, cancel := context.WithTimeout(ctx, ownerPatience)
		defer cancel()
		d := foretell(ctx, r, req)
		d.handler = ownerHandler
		return respond(d)
	}
}

func foretell(ctx context.Context, r *observe.Reader, req admission.Request) decision {
	owner, pod, ok, err := readOwner(req)
	if err != nil {
		return unreadable(req.Kind.Kind, req, err)
	}
	if !ok {
		return decision{outcome: ignored, reason: reasonNotEtcd}
	}
	match, err := r.PolicyFor(ctx, owner)
	if err != nil {
		return unobserved(req.Kind.Kind, req, err)
	}
	if d, none := noPolicy(match, owner); none {
		return d
	}
	settings := observe.SpreadSettings(match.Policy)
	facts, err := r.SpreadFactsOf(ctx, owner, pod, settings.ZoneKey)
	if err != nil {
		return unobserved(req.Kind.Kind, req, err)
	}
	verdict := policy.Spread(facts, settings)
	d := decision{outcome: warned, reason: reasonSpread, policy: match.Policy.Name}
	will := ": members go"
	if match.Policy.Spec.Mode == v1alpha1.ModeWarn {
		d.reason, will = reasonWarnMode, " (mode Warn): members would go"
	}
	d.warnings = append(d.warnings, fmt.Sprintf("EtcdTopologyPolicy %s%s to %s", match.Policy.Name, will, observe.DescribeTerms(verdict.Terms)))
	for _, n := range verdict.Notes {
		d.warnings = append(d.warnings, n.Message)
	}
	return d
}

// readOwner decodes the Etcd or StatefulSet of a request and makes its first
// pod. False for what is no etcd cluster, or not by itself: a StatefulSet that
// druid makes was announced with its Etcd.
func readOwner(req admission.Request) (observe.Owner, *corev1.Pod, bool, error) {
	if req.Kind.Group == druidv1alpha1.GroupName {
		var etcd druidv1alpha1.Etcd
		if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &etcd); err != nil {
			return observe.Owner{}, nil, false, err
		}
		etcd.Namespace = req.Namespace
		owner := observe.DruidOwner(&etcd, nil)
		return owner, observe.PodOfEtcd(owner, &etcd), true, nil
	}
	var sts appsv1.StatefulSet
	if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &sts); err != nil {
		return observe.Owner{}, nil, false, err
	}
	sts.Namespace = req.Namespace
	owner, ok := observe.StandaloneOwner(&sts)
	if !ok {
		return observe.Owner{}, nil, false, nil
	}
	return owner, observe.PodOfStatefulSet(owner, &sts), true, nil
}
