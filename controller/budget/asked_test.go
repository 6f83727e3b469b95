// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// answers are those of members, by pod.
type answers map[string]observe.Answer

func (a answers) Answer(pod *corev1.Pod) observe.Answer { return a[pod.Name] }

// well is the answer of a healthy member.
var well = observe.Answer{Known: true, Healthy: true}

// weakProbes gives the members probes that don't ask etcd.
func (s *stage) weakProbes() {
	for _, o := range s.Objects {
		if pod, is := o.(*corev1.Pod); is {
			pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(2379)},
			}}
		}
	}
}

// TestBudgetWaitsForAnswers: a leader that has not asked a member yet, which hung when the last leader asked it, loosens
// nothing until the member answers, even if settle is shorter than that takes.
func TestBudgetWaitsForAnswers(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {settle: 10s, askMembers: true}}")
	known := answers{"etcd-0": {Known: true}, "etcd-1": well, "etcd-2": well}
	s.weakProbes()
	s.budget.Health = known
	s.expect("etcd maxUnavailable=0 MemberNotReady")
	s.restart()
	s.budget.Health = answers{"etcd-0": {Awaited: true}, "etcd-1": {Awaited: true}, "etcd-2": {Awaited: true}}
	for range 4 {
		if _, result := s.reconcile(); result.RequeueAfter == 0 || result.RequeueAfter > unconfirmedWait {
			t.Errorf("requeued after %s", result.RequeueAfter)
		}
		s.expect("etcd maxUnavailable=0 MemberNotReady")
		s.advance(10 * time.Second)
	}
	s.budget.Health = known
	s.expect("etcd maxUnavailable=0 MemberNotReady")
	s.budget.Health = answers{"etcd-0": well, "etcd-1": well, "etcd-2": well}
	s.expect("etcd maxUnavailable=0 MemberNotReady")
	s.advance(10 * time.Second)
	s.expect("etcd maxUnavailable=1 AllReady")
}
