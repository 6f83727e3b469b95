// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// TestOldSizeLowersNothing applies a manifest with an old number of voters again and again, after kubectl
// etcd scale has written how many there are and the StatefulSet was scaled in past etcd.
func TestOldSizeLowersNothing(t *testing.T) {
	t.Parallel()
	for _, old := range []string{"3", "3 again", "3 at 2026-11-19T10:00:00Z", ""} {
		t.Run(old, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			annotateSize(s, "5 at "+controllertest.Now.Format(time.RFC3339))
			scale(s, 5)
			s.expect("etcd-quorum minAvailable=3 AllReady")
			scale(s, 3)
			s.reconcile()
			annotateSize(s, old)
			for range 3 {
				s.reconcile()
				s.advance(time.Hour)
				s.expect("etcd-quorum minAvailable=3 MemberDown")
				removeBudget(s, "etcd-quorum") // the size is in memory then
			}
			annotateSize(s, "3 at "+s.clock.Now().Format(time.RFC3339))
			s.reconcile()
			s.advance(time.Hour)
			s.expect("etcd-quorum minAvailable=2 AllReady")
		})
	}
}

// TestForgedSize creates budgets that record a size, as anyone who may create budgets can while admission is away: one that
// selects nothing, and one without the value that this project writes beside a size.
func TestForgedSize(t *testing.T) {
	t.Parallel()
	for selector, value := range map[string]string{"matchLabels: {app: none}": `, kubectl-etcd.dev/budget-value: minAvailable=5`, byPod: ""} {
		s := plainCreated(t)
		s.expect("etcd-quorum minAvailable=2 AllReady")
		s.Put(controllertest.Parse(t, `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: forged, uid: forged, namespace: store, annotations: {
			kubectl-etcd.dev/budget-for: StatefulSet/etcd, kubectl-etcd.dev/budget-size: "99"`+value+`}}, spec: {minAvailable: 5, selector: {`+selector+`}}}`)[0])
		s.reconcile()
		if got := s.budgets()[0]; got != "etcd-quorum minAvailable=2 AllReady" {
			t.Errorf("%s: the budget is %s", selector, got)
		}
	}
}

// TestSizeOfClockAhead declares fewer voters by a clock that is two hours ahead. The finding and an Event show that it does not count.
func TestSizeOfClockAhead(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	scale(s, 5)
	annotateSize(s, "5 at "+controllertest.Now.Format(time.RFC3339))
	s.reconcile()
	scale(s, 3)
	annotateSize(s, "3 at "+controllertest.Now.Add(2*time.Hour).Format(time.RFC3339))
	s.reconcile()
	s.expect("etcd-quorum minAvailable=3 MemberDown")
	recorded := strings.Join(controllertest.Recorded(t, s.events), "\n")
	if f, _ := s.budget.Findings.Get(s.key); !strings.Contains(f.Message, "its time is in the future") || !strings.Contains(recorded, "SizeAhead") {
		t.Errorf("found %s, recorded %q", f.Message, recorded)
	}
}
