// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// report collects the findings on one policy.
type report struct {
	clusters  []v1alpha1.ClusterStatus
	conflicts []v1alpha1.Conflict
	// tied counts the clusters for which another policy has the same priority.
	tied int
	// unkept counts the clusters of more than one member whose budget no policy keeps,
	// those that are tied among them.
	unkept int
}

func (r *report) addUnkept(o owner.Owner) {
	if o.Size() > 1 {
		r.unkept++
	}
}

// addConflict adds a cluster that all policies of these names select with one priority.
func (r *report) addConflict(names []string, self string, o owner.Owner) {
	r.tied++
	example := o.Namespace + "/" + o.Name
	for _, name := range names {
		if name == self {
			continue
		}
		i := slices.IndexFunc(r.conflicts, func(c v1alpha1.Conflict) bool { return c.Policy == name })
		if i < 0 {
			r.conflicts = append(r.conflicts, v1alpha1.Conflict{Policy: name, Example: example})
			i = len(r.conflicts) - 1
		}
		r.conflicts[i].Clusters++
		r.conflicts[i].Example = min(r.conflicts[i].Example, example)
	}
}

// status returns the policy's status. Its order doesn't depend on the order of the cache,
// so that an unchanged status is equal to the previous one.
func (r *report) status(p *v1alpha1.EtcdTopologyPolicy, now time.Time) v1alpha1.EtcdTopologyPolicyStatus {
	s := v1alpha1.EtcdTopologyPolicyStatus{ObservedGeneration: p.Generation}
	unknown, unevaluated := 0, 0
	for _, c := range r.clusters {
		s.Matched++
		switch c.Spread.Verdict {
		case v1alpha1.Kept:
			s.Kept++
		case v1alpha1.Broken:
			s.Broken++
		case v1alpha1.Unknown:
			unknown++
		case v1alpha1.Off:
		}
		switch c.Budget.Verdict {
		case v1alpha1.Broken:
			s.Unprotected++
		case v1alpha1.Unknown:
			unevaluated++
		case v1alpha1.Kept, v1alpha1.Off:
		}
	}
	s.Unprotected += int32(r.unkept) //nolint:gosec // clusters are counted in memory
	slices.SortFunc(r.clusters, func(a, b v1alpha1.ClusterStatus) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortFunc(r.conflicts, func(a, b v1alpha1.Conflict) int { return cmp.Compare(a.Policy, b.Policy) })
	s.Clusters = r.clusters[:min(len(r.clusters), v1alpha1.MaxListedClusters)]
	s.Conflicts = r.conflicts[:min(len(r.conflicts), v1alpha1.MaxListedClusters)]

	s.Conditions = slices.Clone(p.Status.Conditions)
	put := func(kind string, status metav1.ConditionStatus, reason policy.Reason, format string, args ...any) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason.Name(), Message: fmt.Sprintf(format, args...),
			ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(now),
		})
	}
	broken, unprotected := int(s.Broken), int(s.Unprotected)
	put(v1alpha1.ConditionSpread, conditionOf(broken, unknown), reasonOf(broken, unknown, reasons.Kept, reasons.Broken),
		"spread kept in %d of %d clusters, broken in %d, unknown in %d", s.Kept, s.Matched, broken, unknown)
	put(v1alpha1.ConditionProtected, conditionOf(unprotected, unevaluated), reasonOf(unprotected, unevaluated, reasons.Protected, reasons.Unprotected),
		"%d of %d clusters are not protected by a disruption budget, %d are not evaluated yet", unprotected, int(s.Matched)+r.tied, unevaluated)
	if len(r.conflicts) > 0 {
		first := r.conflicts[0]
		put(v1alpha1.ConditionConflict, metav1.ConditionTrue, reasons.PolicyConflict,
			"policy %s has the same priority %d and selects %d of the same clusters, for example %s, so none applies to them; give one a higher priority",
			first.Policy, p.Spec.Priority, first.Clusters, first.Example)
	} else {
		put(v1alpha1.ConditionConflict, metav1.ConditionFalse, reasons.NoConflict, "no policy of priority %d selects the same cluster", p.Spec.Priority)
	}
	return s
}

// urgency returns the rank of a cluster in the status. The most urgent clusters come first.
func urgency(c v1alpha1.ClusterStatus) int {
	switch {
	case c.Spread.Verdict == v1alpha1.Broken:
		return 0
	case c.Budget.Verdict == v1alpha1.Broken:
		return 1
	case c.Spread.Verdict == v1alpha1.Unknown || c.Budget.Verdict == v1alpha1.Unknown:
		return 2
	}
	return 3
}

// conditionOf returns a condition's status, given how many clusters are bad or unknown.
func conditionOf(bad, unknown int) metav1.ConditionStatus {
	switch {
	case bad > 0:
		return metav1.ConditionFalse
	case unknown > 0:
		return metav1.ConditionUnknown
	}
	return metav1.ConditionTrue
}

// reasonOf returns the reason for that status.
func reasonOf(bad, unknown int, good, not policy.Reason) policy.Reason {
	switch {
	case bad > 0:
		return not
	case unknown > 0:
		return reasons.Unknown
	}
	return good
}
