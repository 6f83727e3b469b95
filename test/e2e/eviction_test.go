// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// guarded starts a plain cluster of three members with a budget that etcd-webhook created. It
// waits until one member may be evicted.
func guarded(t *testing.T) (*clusters.Cluster, *policyv1.PodDisruptionBudget) {
	t.Helper()
	operating(t, 3)
	return guardedMembers(t)
}

// guardedMembers is guarded for a test that has waited until it may run.
func guardedMembers(t *testing.T) (*clusters.Cluster, *policyv1.PodDisruptionBudget) {
	t.Helper()
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	budget := awaitMin(t, c, 2, policy.AllReady.Name())
	pod := members(t, c)[0].Pod.Name
	eventually(t, "a member that may be evicted", func(ctx context.Context) (string, bool, error) {
		answer, err := c.MayEvict(ctx, pod)
		return answer.Message, answer.Code == http.StatusCreated, err
	})
	return c, budget
}

// TestTwoEvictionsAtOnce evicts two members at once. The API server admits one eviction and
// answers the other with 429. It admits the other when the first member is back.
func TestTwoEvictionsAtOnce(t *testing.T) {
	c, _ := guarded(t)
	all := members(t, c)
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
	refused := 0
	if answers[1].Code == http.StatusTooManyRequests {
		refused = 1
	}
	if answers[refused].Code != http.StatusTooManyRequests || answers[1-refused].Code != http.StatusCreated {
		t.Fatalf("%d %s, %d %s", answers[0].Code, answers[0].Message, answers[1].Code, answers[1].Message)
	}
	eventually(t, "the other eviction to be admitted", func(ctx context.Context) (string, bool, error) {
		answer, err := c.Evict(ctx, all[refused].Pod.Name)
		return answer.Message, answer.Code == http.StatusCreated, err
	})
}

// TestDryRunOfEvictionLeavesNoRecord checks that a dry run gets the same answer as an eviction.
// Only an eviction leaves a record.
func TestDryRunOfEvictionLeavesNoRecord(t *testing.T) {
	c, budget := guarded(t)
	record := func() string {
		var b policyv1.PodDisruptionBudget
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(budget), &b); err != nil {
			t.Fatal(err)
		}
		return b.Annotations[v1alpha1.EvictionsAnnotation]
	}
	if r := record(); r != "" {
		t.Errorf("a dry run left the record %q", r)
	}
	// On a busy machine the guard may not read in time. Then it allows an eviction without a record.
	eventually(t, "an eviction that is recorded", func(ctx context.Context) (string, bool, error) {
		found, err := c.Members(ctx)
		if err != nil || len(found) == 0 {
			return "", false, err
		}
		pod := found[0].Pod
		answer, err := c.Evict(ctx, pod.Name)
		r := record()
		return fmt.Sprintf("%d %s, record %q", answer.Code, answer.Message, r), strings.HasPrefix(r, pod.Name+"="+string(pod.UID)+"@"), err
	})
}

// TestEvictionWithoutBudgetIsRecorded checks that the StatefulSet records an eviction if no budget selects
// the members.
func TestEvictionWithoutBudgetIsRecorded(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, nil)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	first := members(t, c)[0].Pod
	// On a busy machine the guard may not read in time. Then it allows an eviction without a record.
	eventually(t, "an eviction that the StatefulSet records", func(ctx context.Context) (string, bool, error) {
		answer, err := c.Evict(ctx, first.Name)
		if err != nil {
			return "", false, err
		}
		var sts appsv1.StatefulSet
		if err := kube.Get(ctx, client.ObjectKey{Namespace: ns, Name: c.Name}, &sts); err != nil {
			return "", false, err
		}
		record := sts.Annotations[v1alpha1.EvictionsAnnotation]
		return fmt.Sprintf("%d %s, record %q", answer.Code, answer.Message, record), strings.HasPrefix(record, first.Name+"="), nil
	})
}

// TestEvictionsBesideFrozenMember freezes a member. As soon as its pod is unready, no other
// member may be evicted. The frozen member may be evicted.
func TestEvictionsBesideFrozenMember(t *testing.T) {
	c, _ := guarded(t)
	all := members(t, c)
	freeze(t, all[2].Pod.UID)
	awaitNotReady(t, &all[2].Pod)
	for _, m := range all[:2] {
		// On a busy machine the guard may not read in time. Then the budget refuses instead of it.
		eventually(t, m.Pod.Name+" to be refused with the numbers", func(ctx context.Context) (string, bool, error) {
			answer, err := c.MayEvict(ctx, m.Pod.Name)
			if err == nil && answer.Code != http.StatusTooManyRequests {
				t.Errorf("%s: %d %s", m.Pod.Name, answer.Code, answer.Message)
			}
			return fmt.Sprint(answer.Code, answer.Message), strings.Contains(answer.Message, "2 of 3 voters are healthy"), err
		})
	}
	eventually(t, "the frozen member to be evicted", func(ctx context.Context) (string, bool, error) {
		answer, err := c.Evict(ctx, all[2].Pod.Name)
		return fmt.Sprint(answer.Code, answer.Message), answer.Code == http.StatusCreated, err
	})
}

// awaitNotReady waits until the API server has a pod as not Ready.
func awaitNotReady(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	eventually(t, pod.Name+" to be unready", func(ctx context.Context) (string, bool, error) {
		var now corev1.Pod
		if err := kube.Get(ctx, client.ObjectKeyFromObject(pod), &now); err != nil {
			return "", false, err
		}
		for _, condition := range now.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionFalse {
				return "", true, nil
			}
		}
		return "the pod is Ready", false, nil
	})
}

// freeze stops the etcd processes of a pod until the end of the test.
func freeze(t *testing.T, uid types.UID) {
	t.Helper()
	thaw, err := clusters.Freeze(uid, clusters.IsEtcd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(thaw)
}
