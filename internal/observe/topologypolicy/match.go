// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package topologypolicy finds the EtcdTopologyPolicy that applies to a cluster, and reads the settings of the
// rules from it. It decides nothing. webhook, controller and the plugin call it.
package topologypolicy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Match is the policy that applies to a cluster. The zero Match is none.
type Match struct {
	// Policy is the one policy that applies, also with mode Off. It is nil where no policy
	// selects the cluster, where policies conflict, and where the cluster has opted out.
	Policy *v1alpha1.EtcdTopologyPolicy
	// Conflict has the names of the policies that share the highest priority, in order.
	Conflict []string
	// Tied are the policies of Conflict. They are of the cache and must not be changed.
	Tied []*v1alpha1.EtcdTopologyPolicy
	// OptedOut is true where the owner's annotation excludes it from every policy.
	OptedOut bool
	// Separate is the policy that would apply if the pods were one cluster. See Owner.Separate.
	Separate string
	// Unrecognised is the policy that would apply if etcd-webhook recognised the cluster. See
	// Owner.Mounted.
	Unrecognised string
}

// In reports whether a policy applies and has one of these modes.
func (m Match) In(modes ...v1alpha1.Mode) bool {
	return m.Policy != nil && slices.Contains(modes, m.Policy.Spec.Mode)
}

// For returns the policy that applies to a cluster, without its status.
func For(ctx context.Context, r *observe.Reader, o owner.Owner) (Match, error) {
	var all v1alpha1.EtcdTopologyPolicyList
	if err := r.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return Match{}, fmt.Errorf("list EtcdTopologyPolicies: %w", err)
	}
	if len(all.Items) == 0 {
		return Match{}, nil
	}
	var ns corev1.Namespace
	found, err := r.Fetch(ctx, "", o.Namespace, &ns)
	if err != nil {
		return Match{}, fmt.Errorf("observe namespace %s: %w", o.Namespace, err)
	}
	if !found {
		return Match{}, nil
	}
	match := Choose(all.Items, ns.Labels, o)
	if match.Policy != nil && o.Mounted != "" {
		return Match{Unrecognised: match.Policy.Name}, nil
	}
	if match.Policy != nil {
		// This runs for every member's pod, so only the chosen policy is copied, without its
		// status, which may be long.
		p := *match.Policy
		p.Status = v1alpha1.EtcdTopologyPolicyStatus{}
		match.Policy = p.DeepCopy()
	}
	return match, nil
}

// Choose returns the policy for a cluster: of those that select it, the one with the highest
// priority. Two policies with that priority are a conflict, which users must resolve. A policy with
// an invalid selector selects nothing; the CRD's validation refuses those.
func Choose(all []v1alpha1.EtcdTopologyPolicy, namespace labels.Set, o owner.Owner) Match {
	if o.Annotations[v1alpha1.TopologyPolicyAnnotation] == v1alpha1.OptOut {
		return Match{OptedOut: true}
	}
	var top []*v1alpha1.EtcdTopologyPolicy
	for i := range all {
		p := &all[i]
		if !selects(p.Spec.NamespaceSelector, namespace) || !selects(p.Spec.ClusterSelector, o.Labels) {
			continue
		}
		if len(top) > 0 && p.Spec.Priority != top[0].Spec.Priority {
			if p.Spec.Priority < top[0].Spec.Priority {
				continue
			}
			top = top[:0]
		}
		top = append(top, p)
	}
	switch len(top) {
	case 0:
		return Match{}
	case 1:
		if o.Separate() {
			return Match{Separate: top[0].Name}
		}
		return Match{Policy: top[0]}
	}
	m := Match{Tied: top}
	for _, p := range top {
		m.Conflict = append(m.Conflict, p.Name)
	}
	slices.SortFunc(m.Conflict, strings.Compare)
	return m
}

func selects(s *v1alpha1.Selector, set labels.Set) bool {
	selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector())
	return err == nil && selector.Matches(set)
}
