// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// shown are the checks that status shows, the most urgent first, with the reason of
// their findings. Left out are advice on configuration, what needs facts that status
// doesn't gather, and Q002 (slack), which status prints beside the quorum.
var shown = []struct {
	id     string
	reason policy.Reason
}{
	{"Q005", reasons.SplitBrain}, {"Q001", policy.NoQuorum}, {"Q004", policy.NoQuorum}, {"D010", recovery.BeganWithoutData},
	{"M006", policy.MemberDown}, {"M002", policy.MemberDown}, {"M001", reasons.MemberWithoutPod}, {"M004", reasons.MemberWithoutPod},
	{"D001", reasons.Alarm}, {"R002", reasons.BackupNotReady}, {"R003", reasons.BackupNotReady}, {"T001", policy.ClientTrafficCut}, {"G003", reasons.OperationInterrupted},
	{"M009", recovery.WrongPeerAddress}, {"M003", reasons.Learner}, {"D002", reasons.QuotaNear}, {"Q006", reasons.MemberLags}, {"D003", reasons.Fragmented}, {"C001", reasons.CertificateExpires},
	{"V001", reasons.VersionsDiffer}, {"Q003", budget.EvenSize}, {"O004", reasons.ConditionsOld}, {"O005", reasons.ConditionBad},
	{"P003", reasons.SpreadBroken}, {"P001", reasons.SpreadBroken}, {"P002", reasons.SpreadBroken},
	{"B001", reasons.NoBudget}, {"B002", reasons.BudgetsOverlap}, {"B003", reasons.BudgetBelowQuorum}, {"B004", reasons.BudgetNotCounted}, {"B005", reasons.BudgetAllowsNone},
	{"M008", reasons.FactsIncomplete},
}

// StatusChecks returns the checks that status shows, the most urgent first.
func StatusChecks() []Check {
	all := All()
	checks := make([]Check, 0, len(shown))
	for _, s := range shown {
		i := slices.IndexFunc(all, func(c Check) bool { return c.ID == s.id })
		checks = append(checks, all[i])
	}
	return checks
}

// StatusFindings returns what StatusChecks find and what needs attention, each with its
// reason: first what makes the cluster unavailable, then the other failures, then the
// rest. A finding that is unknown because of another one, or because of a refusal that is
// among the unseen kinds, is left out.
func StatusFindings(f *Facts) []Finding {
	var found []Finding
	for i, result := range Run(StatusChecks(), f) {
		for _, finding := range result.Findings {
			finding.Reason = cmp.Or(finding.Reason, shown[i].reason)
			refused := finding.cause != nil && apierrors.IsForbidden(finding.cause) && finding.Reason != reasons.MemberNotAsked
			if finding.Level.Worse(Info) && !finding.repeated && !refused {
				found = append(found, finding)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(urgency(a), urgency(b)) })
	return found
}

func urgency(f Finding) int {
	switch {
	case f.Level == Failure && (f.Reason == reasons.SplitBrain || f.Reason == policy.NoQuorum):
		return 0
	case f.Level == Failure:
		return 1
	}
	return 2
}

// Of returns the health of a cluster, one of the values of the API, by its findings:
// Down where it is unavailable, Degraded where anything fails, Unknown where neither the
// members nor Kubernetes show that it is healthy. Where it is a permission of the user
// that keeps the members from being asked, what Kubernetes shows decides.
func Of(f *Facts, found []Finding) string {
	health := output.Healthy
	for _, finding := range found {
		switch {
		case urgency(finding) == 0:
			return output.Down
		case finding.Level == Failure:
			health = output.Degraded
		case finding.Reason == reasons.MemberNotAsked && health == output.Healthy && !f.refused():
			health = output.Unknown
		}
	}
	return health
}

// refused reports whether a missing permission keeps members from being asked, while
// Kubernetes shows whether they are ready.
func (f *Facts) refused() bool {
	if f.evidence() != nil && len(f.Responding()) == 0 {
		return false
	}
	if f.Survey.Err != nil {
		return apierrors.IsForbidden(f.Survey.Err)
	}
	return slices.ContainsFunc(f.voters().notAsked, func(m etcd.Member) bool { return apierrors.IsForbidden(m.Err) })
}
