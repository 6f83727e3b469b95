// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"net"
	"net/http"
	"net/http/httptest"
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

// TestRolloutSeesAnswers writes a template while a member whose pod is Ready reports that it has no quorum. Where a
// policy allows to ask the members, no other one restarts.
func TestRolloutSeesAnswers(t *testing.T) {
	t.Parallel()
	for asks, want := range map[bool]string{false: "partition 2 AllReady", true: "partition 3 MemberDown"} {
		s := newStage(t)
		s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Disruption.AskMembers = asks })
		for i, status := range []int{http.StatusServiceUnavailable, http.StatusOK, http.StatusOK} {
			s.answer(i, status)
		}
		asker := &memberhealth.Asker{Live: s.Store, Clock: s.clock}
		s.reader = s.reader.Asking(budget.Asking(asker, s.reader))
		s.restart()
		s.expectHealth(0, !asks)
		s.expectStep(want)
	}
}
