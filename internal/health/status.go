// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// shown are the checks that status shows, the most urgent first, with the reason of
// their findings. Left out are advice on configuration, what needs facts that status
// doesn't gather, and Q002 (slack), which status prints beside the quorum.
var shown = []struct{ id, reason string }{
	{"Q005", ReasonSplitBrain}, {"Q001", ReasonNoQuorum}, {"Q004", ReasonNoQuorum},
	{"M006", ReasonMemberDown}, {"M002", ReasonMemberDown}, {"M001", ReasonDeadVoter}, {"M004", ReasonDeadVoter},
	{"D001", ReasonAlarm}, {"R002", ReasonBackup}, {"R003", ReasonBackup}, {"T001", ReasonTraffic}, {"G003", ReasonInterrupted},
	{"M003", ReasonLearner}, {"D002", ReasonQuota}, {"Q006", ReasonLag}, {"D003", ReasonFragmented}, {"C001", ReasonCertificate},
	{"V001", ReasonVersions}, {"Q003", budget.EvenSize.Name()}, {"O004", ReasonOperatorGone}, {"O005", ReasonCondition},
	{"P003", ReasonSpread}, {"P001", ReasonSpread}, {"P002", ReasonSpread},
	{"B001", observe.NoBudget}, {"B002", observe.BudgetsOverlap}, {"B003", ReasonBudgetQuorum}, {"B004", ReasonBudgetForm}, {"B005", ReasonBudgetFull},
	{"M008", ReasonFacts},
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
			refused := finding.cause != nil && apierrors.IsForbidden(finding.cause) && finding.Reason != ReasonNotAsked
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
	case f.Level == Failure && (f.Reason == ReasonSplitBrain || f.Reason == ReasonNoQuorum):
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
		case finding.Reason == ReasonNotAsked && health == output.Healthy && !f.refused():
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

// The reasons of the findings that status shows, beside those of package policy.
const (
	ReasonSplitBrain   = "SplitBrain"
	ReasonNoQuorum     = "NoQuorum"
	ReasonMemberDown   = "MemberDown"
	ReasonNotAsked     = "MemberNotAsked"
	ReasonLeaders      = "LeadersDiffer"
	ReasonDeadVoter    = "MemberWithoutPod"
	ReasonAlarm        = "Alarm"
	ReasonBackup       = "BackupNotReady"
	ReasonCondition    = "ConditionBad"
	ReasonOperatorGone = "ConditionsOld"
	ReasonTraffic      = "ClientTrafficCut"
	ReasonSpread       = "SpreadBroken"
	ReasonLearner      = "Learner"
	ReasonQuota        = "QuotaNear"
	ReasonFragmented   = "Fragmented"
	ReasonCertificate  = "CertificateExpires"
	ReasonVersions     = "VersionsDiffer"
	ReasonLag          = "MemberLags"
	ReasonInterrupted  = "OperationInterrupted"
	ReasonBudgetQuorum = "BudgetBelowQuorum"
	ReasonBudgetForm   = "BudgetNotCounted"
	ReasonBudgetFull   = "BudgetAllowsNone"
	ReasonFacts        = "FactsIncomplete"
)
