// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const controllerManager = "kube-controller-manager"

// TestEvictionsWithoutDisruptionController stops the disruption controller, which only then does not see
// that a member's pod becomes unready: the status of the budget still allows one disruption. It evicts the
// two other members at once. The row "the disruption controller has not seen it" of docs/rules/budget.md
// counts 0 states in which that loses the quorum, because the webhook reads the pods itself.
func TestEvictionsWithoutDisruptionController(t *testing.T) {
	alone(t)
	c, budget := guardedMembers(t)
	all := members(t, c)
	pauseControllerManager(t)
	freeze(t, all[2].Pod.UID)
	awaitNotReady(t, &all[2].Pod)

	var stale policyv1.PodDisruptionBudget
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(budget), &stale); err != nil {
		t.Fatal(err)
	}
	if stale.Status.DisruptionsAllowed < 1 || stale.Status.CurrentHealthy != 3 {
		t.Fatalf("the disruption controller has seen it: %+v", stale.Status)
	}

	ignored := failedOpen(t)
	var answers [2]metav1.Status
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			var err error
			if answers[i], err = c.Evict(t.Context(), all[i].Pod.Name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	admitted := 0
	for i, a := range answers {
		t.Logf("%s: %d %s", all[i].Pod.Name, a.Code, a.Message)
		if a.Code != http.StatusTooManyRequests {
			admitted++
		}
	}
	// The budget's number is stricter by then, but the API server subtracts from the old status.
	if admitted > 0 {
		t.Errorf("%d of 2 evictions beside an unready member were not refused; requests without a review: %s, before %s", admitted, failedOpen(t), ignored)
	}
	works(t, c)
}

// pauseControllerManager stops kube-controller-manager, of which the disruption controller is a part,
// until the end of the test.
func pauseControllerManager(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if err := bed.StartProcess(context.WithoutCancel(t.Context()), controllerManager); err != nil {
			t.Errorf("start %s: %v", controllerManager, err)
		}
	})
	if err := bed.StopProcess(t.Context(), controllerManager); err != nil {
		t.Fatal(fmt.Errorf("stop %s: %w", controllerManager, err))
	}
}
