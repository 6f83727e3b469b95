// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// standing is what the policies make of a cluster's budget.
type standing struct {
	// policy is the one that selects the cluster, nil for none or several.
	policy *v1alpha1.EtcdTopologyPolicy
	// unkept is why no policy keeps the budget, nil while one does.
	unkept *policy.Note
	// tie reports whether several policies select the cluster with one priority. It is
	// no one's decision, so nothing is released because of it.
	tie bool
}

func standingOf(match topologypolicy.Match) standing {
	return standing{policy: match.Policy, unkept: Unkept(match), tie: len(match.Conflict) > 0}
}

// Separate is the message that a policy does not apply to etcds that are no cluster.
const Separate = "EtcdTopologyPolicy %s does not apply, because each pod lists only itself: it is an etcd of its own, and no member of one cluster"

// Unkept returns why no policy keeps the budget of a cluster, nil while one does.
func Unkept(match topologypolicy.Match) *policy.Note {
	unkept := func(reason policy.Reason, format string, args ...any) *policy.Note {
		return new(policy.NewNote(reason, format, args...))
	}
	p := match.Policy
	switch {
	case len(match.Conflict) > 0:
		return unkept(reasons.PolicyConflict, "EtcdTopologyPolicies %s have the same priority, so none applies", strings.Join(match.Conflict, ", "))
	case match.OptedOut:
		return unkept(reasons.OptedOut, "the owner's annotation %s opts out of every policy", v1alpha1.TopologyPolicyAnnotation)
	case match.Separate != "":
		return unkept(reasons.SeparateEtcds, Separate, match.Separate)
	case p == nil:
		return unkept(reasons.NoPolicy, "no EtcdTopologyPolicy selects the cluster")
	case p.Spec.Mode == v1alpha1.ModeOff:
		return unkept(reasons.PolicyOff, "EtcdTopologyPolicy %s is in mode Off", p.Name)
	case !p.Spec.Disruption.On():
		return unkept(reasons.DisruptionDisabled, "EtcdTopologyPolicy %s does not manage disruption budgets", p.Name)
	case p.Spec.Mode == v1alpha1.ModeWarn:
		return unkept(reasons.PolicyWarns, "EtcdTopologyPolicy %s is in mode Warn", p.Name)
	}
	return nil
}

// kept reports whether a policy keeps the cluster's budget.
func (s standing) kept() bool { return s.unkept == nil }

// createsMissing reports whether a policy has budgets created for clusters that have none.
func (s standing) createsMissing() bool {
	return s.kept() && s.policy.Spec.Disruption.CreateMissing
}

// guardsEvictions reports whether a policy has evictions judged by the health of the members at that moment.
func (s standing) guardsEvictions() bool {
	return s.kept() && s.policy.Spec.GuardEvictions() == v1alpha1.ModeEnforce
}

// previews reports whether the policy only reports what it would do.
func (s standing) previews() bool { return s.unkept != nil && s.unkept.Reason == reasons.PolicyWarns }

// settings returns those of the policy, or the defaults if there is none.
func (s standing) settings() budget.Settings {
	if s.policy == nil {
		return topologypolicy.BudgetSettings(&v1alpha1.EtcdTopologyPolicy{})
	}
	return topologypolicy.BudgetSettings(s.policy)
}
