// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memberhealth"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
)

// answer has a member be probed by TCP, and answer questions for its health with a status.
func (s *stage) answer(i, status int) {
	s.t.Helper()
	member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	s.t.Cleanup(member.Close)
	_, port, err := net.SplitHostPort(member.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.pod(i, func(p *corev1.Pod) {
		etcd := &p.Spec.Containers[0]
		etcd.Args = []string{"--listen-client-urls=http://0.0.0.0:" + port}
		etcd.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("client")}}}
		p.Status.PodIP = "127.0.0.1"
	})
}

// expectHealth waits until a member is shown as ready or not, also by what is read from the API server. The controller of
// budgets asks the members so before.
func (s *stage) expectHealth(i int, ready bool) {
	s.t.Helper()
	o, _, err := s.reader.Owner(s.t.Context(), s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	for range 100 {
		var live rollouts.State
		if live, err = rollouts.ReadLive(s.t.Context(), s.reader, o); err != nil {
			s.t.Fatal(err)
		}
		if live.Facts.Cluster.Members[i].Ready == ready {
			return
		}
		time.Sleep(100 * time.Millisecond)
		s.advance(memberhealth.Interval)
	}
	s.t.Fatalf("member %d is shown as ready: %t", i, !ready)
}

// asking has three members that are probed by TCP, of which the first ones hang.
func asking(t *testing.T, asks bool, hang int) *stage {
	t.Helper()
	s := newStage(t)
	s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Disruption.AskMembers = asks })
	for i := range 3 {
		status := http.StatusOK
		if i < hang {
			status = http.StatusServiceUnavailable
		}
		s.answer(i, status)
	}
	asker := &memberhealth.Asker{Live: s.Store, Clock: s.clock}
	s.reader = s.reader.Asking(budget.Asking(asker, s.reader))
	s.restart()
	for i := range hang {
		s.expectHealth(i, !asks)
	}
	return s
}

// TestRolloutSeesAnswers writes a template while a member whose pod is Ready hangs. Where a policy allows to ask the
// members, that one gets the template first, and no other one restarts beside it. Its restart is recorded like that of
// a healthy one: the guard of evictions counts its pod.
func TestRolloutSeesAnswers(t *testing.T) {
	t.Parallel()
	asking(t, false, 1).expectStep("partition 2 AllReady")
	s := asking(t, true, 1)
	s.expectStep("OnDelete CuresMember deleted etcd-0")
	records := 0
	for _, o := range s.Objects {
		if strings.HasPrefix(o.GetAnnotations()[v1alpha1.EvictionsAnnotation], "etcd-0=") {
			records++
		}
	}
	if records != 1 {
		t.Errorf("%d objects record that etcd-0 restarts", records)
	}
	s.update(0)
	s.expectStep("partition 3 RolloutUnconfirmed")
	s.expectHealth(0, false)
	s.expectStep("partition 3 RolloutUpdatedNotReady")
}

// TestHangingMembersAreNoQuorum writes a template while two of three members hang. None restarts, for as long as that is
// so: the one that is healthy as little as those that only seem to hang.
func TestHangingMembersAreNoQuorum(t *testing.T) {
	t.Parallel()
	s := asking(t, true, 2)
	s.expectStep("partition 3 MemberDown")
}
