// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestAskedMembers freezes a member whose readiness probe only connects. Its pod stays Ready. etcd-webhook asks the
// member, so the budget is tightened and admits no eviction of another member. The policy's status shows why.
func TestAskedMembers(t *testing.T) {
	operating(t, 3)
	ns, policy := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) {
		s.Disruption.CreateMissing, s.Disruption.AskMembers, s.Disruption.Evictions = true, true, v1alpha1.ModeOff
	})
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Mutate: connectingProbe})
	awaitMin(t, c, 2, "AllReady")
	awaitStatus(t, policy.Name, "3 members is what etcd answers")
	all := members(t, c)
	freeze(t, all[2].Pod.UID)
	awaitMin(t, c, 3, "")
	var pod corev1.Pod
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(&all[2].Pod), &pod); err != nil {
		t.Fatal(err)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status != corev1.ConditionTrue {
			t.Errorf("the frozen pod is not Ready, although its probe only connects: %+v", condition)
		}
	}
	eventually(t, "the eviction of another member to be refused", func(ctx context.Context) (string, bool, error) {
		answer, err := c.MayEvict(ctx, all[0].Pod.Name)
		return fmt.Sprint(answer.Code, answer.Message), answer.Code == http.StatusTooManyRequests, err
	})
}

// connectingProbe replaces the readiness probe by one that only opens a connection.
func connectingProbe(sts *appsv1.StatefulSet) {
	for i := range sts.Spec.Template.Spec.Containers {
		if c := &sts.Spec.Template.Spec.Containers[i]; c.Name == "etcd" {
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}, PeriodSeconds: 5}
		}
	}
}

// awaitStatus waits until the status of a policy has a text.
func awaitStatus(t *testing.T, policy, text string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q in the status of %s", text, policy), func(ctx context.Context) (string, bool, error) {
		var p v1alpha1.EtcdTopologyPolicy
		err := kube.Get(ctx, client.ObjectKey{Name: policy}, &p)
		seen := fmt.Sprintf("%+v", p.Status)
		return seen, strings.Contains(seen, text), err
	})
}
