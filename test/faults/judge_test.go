// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Moments of a cluster of three are three letters, one for each member: R is Ready, u unready, d
// about to end, - absent, N Ready with another pod than before. F and f are R and u of a member that
// the test stopped.
//
// TestJudge plays moments, each so many seconds after the one before. Only the last one may have a
// removal.
func TestJudge(t *testing.T) {
	t.Parallel()
	guarded := facts{guarded: true, budget: true}
	absent, deleted, noBudget := guarded, guarded, guarded
	absent.absent = 1
	deleted.unanswered, deleted.deletes = true, true
	noBudget.absent, noBudget.budget = 1, false
	loose := guarded
	loose.loose = true
	for _, row := range []struct {
		name    string
		moments string
		seconds int
		facts   facts
		want    string // part of the violation or of the excuse
		broken  bool
	}{
		{name: "one eviction", moments: "RRR dRR", facts: guarded},
		{name: "two at once", moments: "RRR ddR", facts: guarded, want: "main-1 left 1 of 3", broken: true},
		{name: "the first is back within a moment", moments: "RRR NdR", facts: guarded},
		{name: "one after the other", moments: "RRR dRR -dR", facts: guarded, want: "main-1 left 1 of 3", broken: true},
		{name: "the first is back", moments: "RRR dRR -RR uRR NRR NdR", facts: guarded},
		{name: "a later one is back", moments: "RRR RRd RRu RdR", facts: guarded},
		{name: "a later one is not back", moments: "RRR RRd RRu Rdu", facts: guarded, want: "main-1 left 1 of 3", broken: true},
		{name: "the first is not Ready yet", moments: "RRR dRR -RR uRR udR", facts: guarded, want: "main-1 left 1 of 3", broken: true},
		{name: "beside a frozen member, a moment later", moments: "RRR FRR FdR", seconds: 1, facts: guarded, want: "stopped too short ago"},
		{name: "beside a frozen member that is just unready", moments: "RRR FRR fRR fdR", seconds: 10, facts: guarded, want: "stopped too short ago"},
		{name: "beside a frozen member that is known", moments: "RRR FRR fRR fRR fdR", seconds: 10, facts: guarded, want: "main-1 left 1 of 3", broken: true},
		{name: "the frozen member itself", moments: "RRR FRR fRR fRR dRR", seconds: 10, facts: guarded},
		{name: "beside a slow member", moments: "RRR uRR uRR uRR udR", seconds: 10, facts: guarded},
		{name: "no policy", moments: "RRR ddR", facts: facts{budget: true}, want: "no policy is in force"},
		{name: "a rollout that nothing holds", moments: "RRR ddR", facts: loose, want: "nothing holds the rollout"},
		{name: "no etcd-webhook, a moment later", moments: "RRR dRR -dR", seconds: 5, facts: absent, want: "removed too short ago"},
		{name: "no etcd-webhook, known", moments: "RRR dRR -RR -RR -dR", seconds: 10, facts: absent, want: "main-1 left 1 of 3", broken: true},
		{name: "no etcd-webhook, a frozen member", moments: "RRR FRR fRR fRR fdR", seconds: 10, facts: absent, want: "main-1 left 1 of 3", broken: true},
		{name: "no etcd-webhook and no budget", moments: "RRR dRR -RR -RR -dR", seconds: 10, facts: noBudget, want: "there is no budget"},
		{name: "a deletion that nothing reviewed", moments: "RRR dRR -RR -RR -dR", seconds: 10, facts: deleted, want: "no budget covers deletions"},
		{name: "the quorum was lost before", moments: "RRR FRR FdR FdR Fdd", facts: guarded},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, at := newJudge([]string{"main-0", "main-1", "main-2"}), time.Unix(0, 0)
			var last []removal
			for moment := range strings.FieldsSeq(row.moments) {
				at = at.Add(time.Duration(row.seconds) * time.Second)
				pods, disturbed := podsOf(moment, j)
				last = j.see(at, pods, disturbed)
			}
			if len(last) == 0 && row.name != "the frozen member itself" {
				t.Fatal("the last moment has no removal")
			}
			violations, excuses := "", ""
			for _, r := range last {
				violation, excuse := r.verdict(row.facts, 3)
				violations, excuses = violations+violation, excuses+excuse
			}
			got, other := excuses, violations
			if row.broken {
				got, other = violations, excuses
			}
			if other != "" || (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
				t.Errorf("violation %q, excuse %q, want %q", violations, excuses, row.want)
			}
		})
	}
}

// podsOf returns the pods of a moment, and the names of those that the test stopped.
func podsOf(moment string, j *judge) (pods []corev1.Pod, disturbed map[string]bool) {
	disturbed = map[string]bool{}
	for i, state := range moment {
		name := j.members[i]
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "first"}}
		before := j.seen[name]
		if state == 'N' || state == 'u' && before.UID == "" || before.UID == "second" {
			pod.UID = types.UID("second")
		}
		ready := corev1.ConditionFalse
		switch state {
		case 'R', 'F', 'N':
			ready = corev1.ConditionTrue
		case 'd':
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		disturbed[name] = state == 'F' || state == 'f'
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		if state != '-' {
			pods = append(pods, pod)
		}
	}
	return pods, disturbed
}
