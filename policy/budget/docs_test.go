// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	policytest.Rows(t, []string{
		"B-28", // TestAdoptMaxUnavailable
		"B-30", // TestBudgetTimesToCome
		"B-36", // TestSizeIsRemembered and TestSizeOfSleeper of controller
		"B-37", // TestLargestSize of internal/observe
		"B-42", // TestDeclaredWhilePodsStop of internal/observe/annotation
		"B-40", // TestSizeOfClaims of controller
		"B-44", // TestSizeWithoutBudget of controller
		"B-38", // TestOneBudgetOverWorkloads, TestBudgetsOfWorkloadsBecomeOne and TestAuthorsBudgetOverWorkloads of controller
		"B-39", // TestMembersElsewhere
		"B-45", // TestTakeOver, and TestHandOverKeepsWhatStands and TestHoldModel of controller
		"B-35", // TestOursStaysBesideUselessBudget, TestOursGoesAfterForeignIsTight and TestPartialBudgetBesideMissingPods of controller
	}, budgetRows, budgetTimes, sharedRows)
	policytest.Reasons(t, Reasons())
}

func TestEveryRowHasAConsequence(t *testing.T) {
	t.Parallel()
	for reason := range consequence {
		if !slices.Contains(Reasons(), reason) {
			t.Errorf("%s is none of the rule's reasons", reason)
		}
	}
}
