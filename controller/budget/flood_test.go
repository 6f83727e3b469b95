// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"fmt"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// countedReader counts what is read.
type countedReader struct {
	client.Reader
	gets, lists *int
}

func (r countedReader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	*r.gets++
	return r.Reader.Get(ctx, key, obj, opts...)
}

func (r countedReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	*r.lists++
	return r.Reader.List(ctx, list, opts...)
}

// count counts what the controller reads from now on.
func (s *stage) count() *countedReader {
	r := countedReader{Reader: s.budget.Reader.Reader, gets: new(int), lists: new(int)}
	s.budget.Reader.Reader = r
	return &r
}

// flooded is a stage of two clusters with n budgets that select the members of both, and one that protects the
// first.
func flooded(t *testing.T, n int) *stage {
	t.Helper()
	s := sharing(t)
	removeBudget(s, "theirs")
	for i := range n {
		foreign(s, fmt.Sprintf("flood-%03d", i), "minAvailable: 1, selector: {"+byApp+"}")
	}
	return s
}

// TestFloodOfBudgets checks that what one reconciliation reads grows with the number of budgets in a namespace
// and no faster: the facts of each cluster that shares them are read once, and the owner of each pod.
func TestFloodOfBudgets(t *testing.T) {
	t.Parallel()
	reads := func(budgets int, forged bool) (gets, lists int) {
		s := flooded(t, budgets)
		if forged { // no policy keeps them, and their records name the cluster
			switchOff(s)
			for i := range budgets {
				change(s, fmt.Sprintf("flood-%03d", i), func(p *policyv1.PodDisruptionBudget) {
					p.Annotations = map[string]string{v1alpha1.BudgetForAnnotation: "StatefulSet/etcd"}
				})
			}
		}
		r := s.count()
		s.reconcile()
		return *r.gets, *r.lists
	}
	for _, forged := range []bool{false, true} {
		fewGets, fewLists := reads(10, forged)
		gets, lists := reads(40, forged)
		if gets > 2*fewGets {
			t.Errorf("forged %t: %d gets with 40 budgets, %d with 10", forged, gets, fewGets)
		}
		if lists > 4*fewLists {
			t.Errorf("forged %t: %d lists with 40 budgets, %d with 10", forged, lists, fewLists)
		}
	}
}

// TestFloodIsWrittenInParts checks that one reconciliation writes a bounded number of budgets that can't protect the
// cluster alone, after the one that does, and that the next ones write the rest.
//
//nolint:gocyclo // one check after the other
func TestFloodIsWrittenInParts(t *testing.T) {
	t.Parallel()
	const budgets = 5*othersAtOnce + 1
	for _, forged := range []bool{false, true} {
		s := flooded(t, budgets)
		own := "minAvailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [etcd]}, {key: which, operator: DoesNotExist}]}"
		foreign(s, "own", own)
		setReady(s, "etcd-1", "False")
		if forged {
			switchOff(s)
			for _, b := range append(s.budgets(), "own") {
				name, _, _ := strings.Cut(b, " ")
				change(s, name, func(p *policyv1.PodDisruptionBudget) {
					p.Annotations = map[string]string{v1alpha1.BudgetForAnnotation: "StatefulSet/etcd"}
				})
			}
		}
		rounds := 0
		for {
			n, result := s.reconcile()
			controllertest.Recorded(t, s.events)
			if rounds == 0 && !strings.Contains(strings.Join(s.budgets(), "\n"), "own minAvailable=2 ") {
				t.Errorf("forged %t: not written first: %q", forged, s.budgets())
			}
			if n == 0 {
				break
			}
			if n > othersAtOnce+1 || rounds > 10 {
				t.Fatalf("forged %t: round %d wrote %d", forged, rounds, n)
			}
			if n >= othersAtOnce && (result.RequeueAfter <= 0 || result.RequeueAfter > moreWait) {
				t.Errorf("forged %t: the next reconciliation is after %s", forged, result.RequeueAfter)
			}
			rounds++
		}
		for _, b := range s.budgets() {
			if strings.HasPrefix(b, "flood") && !strings.HasPrefix(b[len("flood-000 "):], "minAvailable=5") {
				t.Errorf("forged %t: %s", forged, b)
			}
		}
	}
}

// TestFloodOfRecords checks that an event of a pod that is no member considers a bounded number of budgets.
func TestFloodOfRecords(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	const budgets = 3 * budgetsConsidered
	for i := range budgets {
		name := fmt.Sprintf("forged-%03d", i)
		foreign(s, name, "minAvailable: 1, selector: {matchLabels: {app: web}}")
		change(s, name, func(p *policyv1.PodDisruptionBudget) {
			p.Annotations = map[string]string{v1alpha1.BudgetForAnnotation: "StatefulSet/" + name}
		})
	}
	if n := len(s.budget.ofPod(t.Context(), readyPod("web", map[string]string{"app": "web"}))); n == 0 || n > budgetsConsidered {
		t.Errorf("%d clusters are reconciled", n)
	}
}
