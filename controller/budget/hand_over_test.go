// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestHandOverKeepsWhatStands checks that a budget that replaces another one takes over its number and
// its clocks: no change of hands frees a member before the settle time is over, or by facts that are not confirmed.
func TestHandOverKeepsWhatStands(t *testing.T) {
	t.Parallel()
	const whole = "minAvailable: 1, selector: {" + byApp + "}"
	recovers := func(s *stage) {
		scale(s, 5)
		setReady(s, "etcd-0", corev1.ConditionFalse)
		s.reconcile()
		setReady(s, "etcd-0", corev1.ConditionTrue)
		s.reconcile()
		s.advance(time.Second)
	}
	settles := func(s *stage) {
		s.advance(58 * time.Second)
		s.reconcile()
		s.advance(time.Second)
	}
	for _, row := range []struct {
		name      string
		settings  string
		before    func(*stage)
		handOver  func(*stage)
		want      []string
		after     func(*stage)
		wantAfter []string
	}{
		{name: "settle", before: recovers, handOver: func(s *stage) { foreign(s, "theirs", whole) },
			want: []string{"theirs minAvailable=4 MemberDown"}, after: settles, wantAfter: []string{"theirs minAvailable=3 AllReady"}},
		{name: "settle, with maxUnavailable", before: recovers, handOver: func(s *stage) { foreign(s, "theirs", "maxUnavailable: 4, selector: {"+byApp+"}") },
			want: []string{"theirs maxUnavailable=1 MemberDown"}, after: settles, wantAfter: []string{"theirs maxUnavailable=2 AllReady"}},
		{name: "to two budgets", before: recovers, handOver: func(s *stage) {
			foreign(s, "theirs", whole)
			foreign(s, "more", whole)
			s.expect("more minAvailable=4 MemberDown", "theirs minAvailable=4 MemberDown")
			s.advance(57 * time.Second)
			s.expect("more minAvailable=4 MemberDown", "theirs minAvailable=4 MemberDown")
			removeBudget(s, "more")
		}, want: []string{"theirs minAvailable=4 MemberDown"}, after: func(s *stage) { s.advance(time.Minute) }, wantAfter: []string{"theirs minAvailable=3 AllReady"}},
		{name: "a budget of another author gets another name", before: func(s *stage) {
			foreign(s, "theirs", whole)
			recovers(s)
		}, handOver: func(s *stage) {
			foreign(s, "renamed", whole)
			s.reconcile()
			removeBudget(s, "theirs")
		}, want: []string{"renamed minAvailable=4 MemberDown"}, after: func(s *stage) { s.advance(time.Minute) }, wantAfter: []string{"renamed minAvailable=3 AllReady"}},
		{name: "what its author asks for is not handed on", before: func(s *stage) {
			foreign(s, "theirs", "minAvailable: 3, selector: {"+byApp+"}")
		}, handOver: func(s *stage) {
			foreign(s, "renamed", whole)
			s.reconcile()
			removeBudget(s, "theirs")
		}, want: []string{"renamed minAvailable=2 AllReady"}, after: func(*stage) {}, wantAfter: []string{"renamed minAvailable=2 AllReady"}},
		{name: "a member hangs, and a new leader does not know it yet", settings: ", askMembers: true", before: func(s *stage) {
			s.weakProbes()
			s.budget.Health = answers{"etcd-0": {Known: true}, "etcd-1": well, "etcd-2": well}
			s.expect("etcd-quorum minAvailable=3 MemberNotReady")
			s.restart()
			s.budget.Health = answers{"etcd-0": {Awaited: true}, "etcd-1": {Awaited: true}, "etcd-2": {Awaited: true}}
			s.reconcile()
		}, handOver: func(s *stage) {
			foreign(s, "theirs", whole)
		}, want: []string{"theirs minAvailable=3 MemberNotReady"}, after: func(s *stage) {
			s.advance(20 * time.Second)
			s.budget.Health = answers{"etcd-0": well, "etcd-1": well, "etcd-2": well}
			s.expect("theirs minAvailable=3 MemberNotReady") // settle begins when it is known
			s.advance(time.Minute)
		}, wantAfter: []string{"theirs minAvailable=2 AllReady"}},
		{name: "backups fail", settings: ", backupHoldLimit: 30m", before: func(s *stage) {
			change(s, "etcd", func(o *appsv1.StatefulSet) {
				o.Annotations = map[string]string{v1alpha1.BackupLeaseAnnotation: "etcd-backup", v1alpha1.BackupMaxAgeAnnotation: "6h"}
			})
			s.expect("etcd-quorum minAvailable=3 BackupFailing")
			s.advance(20 * time.Minute)
			s.reconcile()
		}, handOver: func(s *stage) {
			foreign(s, "theirs", whole)
		}, want: []string{"theirs minAvailable=3 BackupFailing"}, after: func(s *stage) {
			s.advance(9 * time.Minute)
			s.reconcile()
			s.advance(time.Minute)
		}, wantAfter: []string{"theirs minAvailable=2 BackupFailingTooLong"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {createMissing: true, settle: 60s"+row.settings+"}}")
			removeBudget(s, "etcd")
			s.reconcile()
			row.before(s)
			row.handOver(s)
			for range 2 {
				if got := s.writes(); !slices.Equal(got, row.want) {
					t.Errorf("handed over, they are %q, want %q", got, row.want)
				}
			}
			row.after(s)
			if got := s.writes(); !slices.Equal(got, row.wantAfter) {
				t.Errorf("after that, they are %q, want %q", got, row.wantAfter)
			}
		})
	}
}

// TestNumberIsTakenOverOnce checks that a budget of ours that can't be deleted doesn't make the one that has replaced
// it stricter again.
func TestNumberIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {createMissing: true, settle: 60s}}")
	removeBudget(s, "etcd")
	scale(s, 5)
	setReady(s, "etcd-0", corev1.ConditionFalse)
	s.expect("etcd-quorum minAvailable=4 MemberDown")
	s.DenyDeletionOf = "etcd-quorum"
	foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}")
	s.expect("etcd-quorum minAvailable=4 MemberDown", "theirs minAvailable=4 MemberDown")
	setReady(s, "etcd-0", corev1.ConditionTrue)
	s.expect("etcd-quorum minAvailable=4 MemberDown", "theirs minAvailable=4 MemberDown")
	for range 3 {
		s.advance(time.Minute)
		s.expect("etcd-quorum minAvailable=4 MemberDown", "theirs minAvailable=3 AllReady")
	}
	setReady(s, "etcd-0", corev1.ConditionFalse)
	s.expect("etcd-quorum minAvailable=4 MemberDown", "theirs minAvailable=4 MemberDown")
	setReady(s, "etcd-0", corev1.ConditionTrue)
	s.expect("etcd-quorum minAvailable=4 MemberDown", "theirs minAvailable=4 MemberDown") // settle begins again
}

// writes reconciles once and returns the budgets.
func (s *stage) writes() []string {
	s.t.Helper()
	s.reconcile()
	return s.budgets()
}

// TestOverlappingBudgetsLoosen: two budgets of authors over all members each take over what the other keeps once, not again
// whenever one of them is due to keep less.
func TestOverlappingBudgetsLoosen(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for _, name := range []string{"first", "second"} {
		foreign(m.stage, name, "minAvailable: 0, selector: {"+byApp+"}")
	}
	both := func(want int) {
		t.Helper()
		for range 4 {
			m.reconcile()
		}
		for _, name := range []string{"first", "second"} {
			if n, _ := m.number(name); n != want {
				t.Errorf("budget %s keeps %d, want %d; budgets %q", name, n, want, m.budgets())
			}
		}
	}
	m.setDown("etcd-0", true)
	both(4)
	m.setDown("etcd-0", false)
	both(4)
	for range 3 {
		m.wait(time.Minute + time.Second)
		m.reconcile()
	}
	both(3)
}
