// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// alternate reconciles both clusters of a stage in turn, as their writes of one budget wake both. It requires
// that they come to rest: what one of them writes, the other doesn't write back.
func (s *stage) alternate() {
	s.t.Helper()
	for round := range 6 {
		for _, name := range []string{"etcd", "events"} {
			s.key.Name = name
			if n, _ := s.reconcile(); n > 0 && round > 1 {
				s.t.Fatalf("round %d: %s writes again: %v", round, name, controllertest.Find[*policyv1.PodDisruptionBudget](s.t, s.Objects, "theirs").Annotations)
			}
		}
		s.advance(time.Second)
	}
}

// TestSharersComeToRest has two clusters with one budget differ in what each of them would record there.
func TestSharersComeToRest(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*stage)
		want   string
	}{
		"both well":    {func(*stage) {}, "theirs minAvailable=5 AllReady"},
		"one opts out": {func(s *stage) { s.optOut() }, "theirs minAvailable=5 AllReady"},
		"one opts out, and less is due": {func(s *stage) {
			setReady(s, "events-0", corev1.ConditionFalse)
			setReady(s, "events-1", corev1.ConditionFalse)
			s.alternate()
			s.optOut()
			setReady(s, "events-0", corev1.ConditionTrue)
			setReady(s, "events-1", corev1.ConditionTrue)
		}, "theirs minAvailable=6 QuorumAtRisk"},
		"several policies select one, and less is due": {func(s *stage) {
			setReady(s, "events-0", corev1.ConditionFalse)
			setReady(s, "events-1", corev1.ConditionFalse)
			s.alternate()
			for _, name := range []string{"one", "other"} {
				s.policy(name, "priority: 5")
			}
			setReady(s, "events-0", corev1.ConditionTrue)
			setReady(s, "events-1", corev1.ConditionTrue)
		}, "theirs minAvailable=6 QuorumAtRisk"},
		"as much is due for two reasons": {func(s *stage) {
			setReady(s, "etcd-0", corev1.ConditionFalse)
			s.Put(controllertest.Parse(s.t, fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: cut, namespace: store, uid: cut}, spec: {selector: {which: events, %s: %s%d}}}",
				v1alpha1.ClientTrafficKey, v1alpha1.ClientTrafficPrefix, controllertest.Now.Add(time.Hour).Unix()))[0])
		}, "theirs minAvailable=5 ClientTrafficCut"},
		"the policies have other limits": {func(s *stage) {
			s.policy("short", "priority: 5, disruption: {backupHoldLimit: 10m}")
			change(s, "etcd", func(o *appsv1.StatefulSet) {
				o.Annotations = map[string]string{v1alpha1.BackupLeaseAnnotation: "etcd-backup", v1alpha1.BackupMaxAgeAnnotation: "6h"}
			})
			s.alternate()
			s.advance(20 * time.Minute)
			s.alternate()
			s.advance(2 * time.Minute)
		}, "theirs minAvailable=5 AllReady"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sharing(t)
			s.alternate()
			row.change(s)
			s.alternate()
			if got := s.budgets(); !slices.Equal(got, []string{row.want}) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// TestSharedBudgetIsHandedOver checks that a budget that was recorded for a cluster whose policy ended becomes
// that of the other one, at the same number.
func TestSharedBudgetIsHandedOver(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	s.alternate()
	s.optOut()
	s.alternate()
	recorded := func() string {
		return controllertest.Find[*policyv1.PodDisruptionBudget](t, s.Objects, "theirs").Annotations[v1alpha1.BudgetForAnnotation]
	}
	if got := recorded(); got != "StatefulSet/etcd" {
		t.Errorf("within the settle time it is recorded for %s", got)
	}
	s.advance(time.Minute)
	s.alternate()
	if got := recorded(); got != "StatefulSet/events" || !slices.Equal(s.budgets(), []string{"theirs minAvailable=5 AllReady"}) {
		t.Errorf("recorded for %s: %q", got, s.budgets())
	}
	change(s, "events", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}
	})
	s.alternate()
	s.advance(time.Minute)
	s.alternate()
	if got := recorded(); got != "" {
		t.Errorf("no policy keeps it, and it is recorded for %s", got)
	}
}

// TestSharedBudgetDoesNotLoosenUnconfirmed has a new leader that has not seen the leases of one of two clusters renewed.
// Neither cluster loosens the budget that they share.
func TestSharedBudgetDoesNotLoosenUnconfirmed(t *testing.T) {
	t.Parallel()
	s := druid(t, "{disruption: {settle: 5s}}")
	removeBudget(s, "main")
	for _, o := range controllertest.Parse(t, `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: theirs
  namespace: shoot
  uid: theirs
  annotations: {kubectl-etcd.dev/budget-for: Etcd/main, kubectl-etcd.dev/budget-reason: QuorumAtRisk, kubectl-etcd.dev/budget-value: minAvailable=6, kubectl-etcd.dev/budget-original: minAvailable=1, kubectl-etcd.dev/budget-size: "3"}
spec: {minAvailable: 6, selector: {matchLabels: {app: main}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: events, namespace: shoot, uid: events}
spec: {replicas: 3, serviceName: "", selector: {matchLabels: {which: events}}, template: {metadata: {labels: {app: main, which: events}}, spec: {containers: [{name: etcd, command: [etcd], readinessProbe: {httpGet: {path: /readyz, port: 2381}}}]}}}
`) {
		s.Put(o)
	}
	for i := range 3 {
		p := readyPod(fmt.Sprintf("events-%d", i), map[string]string{"app": "main", "which": "events"})
		p.Namespace, p.UID = "shoot", types.UID(p.Name)
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "events", UID: "events", Controller: new(true)}}
		p.Spec.Containers = find[*appsv1.StatefulSet](s, "events").Spec.Template.Spec.Containers
		s.Put(p)
	}
	keys := []owner.Key{{Kind: "StatefulSet", Namespace: "shoot", Name: "events"}, s.key}
	both := func(want string) {
		t.Helper()
		for _, s.key = range keys {
			if _, result := s.reconcile(); strings.Contains(want, "=6") && result.RequeueAfter <= 0 {
				t.Errorf("%s is not reconciled again", s.key.Name)
			}
		}
		if got := s.budgets(); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	before := s.Writes
	for range 3 {
		both("theirs minAvailable=6 QuorumAtRisk")
		s.advance(6 * time.Second)
	}
	if n := s.Writes - before; n != 0 {
		t.Errorf("wrote %d times on unconfirmed leases", n)
	}
	renew(s)
	both("theirs minAvailable=6 QuorumAtRisk")
	s.advance(6 * time.Second)
	both("theirs minAvailable=5 AllReady")
}

// optOut has no policy keep the budget of etcd.
func (s *stage) optOut() {
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}
	})
}

// policy adds a policy for etcd alone.
func (s *stage) policy(name, spec string) {
	change(s, "etcd", func(o *appsv1.StatefulSet) { o.Labels = map[string]string{"only": "etcd"} })
	s.Put(controllertest.Parse(s.t, fmt.Sprintf("{apiVersion: policy.kubectl-etcd.dev/v1alpha1, kind: EtcdTopologyPolicy, metadata: {name: %s, uid: %s}, "+
		"spec: {mode: Enforce, clusterSelector: {matchLabels: {only: etcd}}, %s}}", name, name, spec))[0])
}
