// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

const (
	// limit is the timeout of every wait that has to succeed, because a machine may be slow.
	limit = 12 * time.Minute
	// brief is the timeout of a wait that the other open faults may prevent. The sequence
	// continues without what it waited for.
	brief = 3 * time.Minute
)

// errViolated is in the error of every broken invariant.
var errViolated = errors.New("an invariant is broken")

// world is a cluster that a sequence is played on, and what the test did to it.
type world struct {
	*history

	bed     *testbed.Testbed
	kube    client.Client
	cluster *clusters.Cluster
	policy  *v1alpha1.EtcdTopologyPolicy
	kind    Kind
	// size is the number of members now, and initial the one of the beginning. Only the goroutine of the
	// steps writes it, under mu.
	size, initial int
	// interrupted is set if the plugin began a scale operation and did not complete it.
	interrupted bool
	ledger      *ledger
	// stamp is the last value that the test wrote into the pod template.
	stamp string
	// open has the functions that end the open faults. Only the goroutine of the steps uses it.
	open map[Step]func(context.Context) error

	mu    sync.Mutex
	judge *judge
	facts facts
	// instances are the processes that the test stopped, by pod: see instance.
	instances map[string]string
	// returning are the members whose fault has ended: they are disturbed until they are Ready.
	returning map[string]bool
	// policyReturns is set when the policy exists again, until it is in force.
	policyReturns bool
	// allowed is how many removals of each pod the steps account for.
	allowed map[string]int
	// step is the step in progress. failedOpen is the API server's counter of requests that
	// etcd-webhook did not answer, at the begin of the step.
	step       Step
	failedOpen string
}

// pod returns the name of a member's pod.
func (w *world) pod(member int) string { return fmt.Sprintf("%s-%d", w.cluster.Full(), member) }

// change changes what the judge knows.
func (w *world) change(set func(*facts)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set(&w.facts)
}

// disturb marks a member as stopped by the test. It is running again when another process of it is
// Ready, as when the kubelet restarts it, or when the fault has ended and the pod is Ready.
func (w *world) disturb(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.facts.disturbed[pod.Name] = true
	w.instances[pod.Name] = instance(pod)
	delete(w.returning, pod.Name)
}

// running clears the mark of the members that run again.
func (w *world) running(pods []corev1.Pod) {
	for i := range pods {
		name := pods[i].Name
		if !w.facts.disturbed[name] || !w.judge.ready(name) {
			continue
		}
		if w.returning[name] || w.instances[name] != instance(&pods[i]) {
			delete(w.facts.disturbed, name)
			delete(w.returning, name)
		}
	}
}

// instance returns what is different for each process of a member.
func instance(pod *corev1.Pod) string {
	ids := []string{string(pod.UID)}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		ids = append(ids, s.ContainerID)
	}
	return strings.Join(ids, " ")
}

// awaitReturn waits briefly for the pod of a member whose fault has ended. The member counts as
// disturbed until its pod is Ready.
func (w *world) awaitReturn(ctx context.Context, pod string) {
	w.mu.Lock()
	w.returning[pod] = true
	w.mu.Unlock()
	w.briefly(ctx, pod+" to be Ready again", func(context.Context) (string, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return "it is not Ready", !w.facts.disturbed[pod], nil
	})
}

// briefly waits for a condition that other open faults may prevent, and reports whether it is met.
func (w *world) briefly(ctx context.Context, what string, condition clusters.ConditionFunc) bool {
	err := clusters.Await(ctx, brief, what, condition)
	if err != nil {
		w.saw("%v", err)
	}
	return err == nil
}

// awaitSpare waits until a quorum of other members is Ready and not disturbed, so that the fault of this member does not
// take the quorum. It reports whether that is so.
func (w *world) awaitSpare(ctx context.Context, pod string) bool {
	return w.briefly(ctx, "a quorum beside "+pod, func(context.Context) (string, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		n := 0
		for _, name := range w.judge.members {
			if name != pod && w.judge.ready(name) && !w.facts.disturbed[name] {
				n++
			}
		}
		there := w.judge.ready(pod)
		return fmt.Sprintf("%d others are Ready, the member itself: %t", n, there), there && n >= policy.Quorum(w.size), nil
	})
}

// awaitKnown waits until everything in the cluster has to know that the pod is not Ready. The
// pod may also be replaced meanwhile, as by a rollout.
func (w *world) awaitKnown(ctx context.Context, pod string) {
	w.briefly(ctx, "the cluster to know that "+pod+" is down", func(context.Context) (string, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return "", w.judge.isKnown(now(), pod), nil
	})
}

// allow accounts for one removal of each of these pods.
func (w *world) allow(pods ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pod := range pods {
		w.allowed[pod]++
	}
}

// refused reverts allow after a refused request. The pod may have been removed meanwhile for
// another reason.
func (w *world) refused(pods ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pod := range pods {
		w.allowed[pod] = max(0, w.allowed[pod]-1)
	}
}

// budgets returns the budgets of the namespace, and the names of those that etcd-webhook manages.
func (w *world) budgets(ctx context.Context) (all []policyv1.PodDisruptionBudget, managed []string, err error) {
	var list policyv1.PodDisruptionBudgetList
	if err := w.kube.List(ctx, &list, client.InNamespace(w.cluster.Namespace)); err != nil {
		return nil, nil, err
	}
	for _, b := range list.Items {
		if strings.HasSuffix(b.Annotations[v1alpha1.BudgetForAnnotation], "/"+w.cluster.Full()) {
			managed = append(managed, b.Name)
		}
	}
	return list.Items, managed, nil
}

// awaitOnlyBudget waits briefly until the namespace has one budget, and etcd-webhook manages it.
// A name of a budget may be required.
func (w *world) awaitOnlyBudget(ctx context.Context, name string) {
	w.briefly(ctx, "one managed budget", func(ctx context.Context) (string, bool, error) {
		all, managed, err := w.budgets(ctx)
		seen := fmt.Sprintf("%d budgets, managed are %q", len(all), managed)
		return seen, len(all) == 1 && len(managed) == 1 && (name == "" || managed[0] == name), err
	})
}

// rolledOut reports whether no rollout is in progress and nothing is held.
func (w *world) rolledOut(ctx context.Context) (string, bool, error) {
	set, err := w.cluster.StatefulSet(ctx)
	if err != nil {
		return "", false, err
	}
	s, rolling := set.Status, set.Spec.UpdateStrategy.RollingUpdate
	held := set.Annotations[v1alpha1.RolloutValueAnnotation] != "" || rolling != nil && ptr.Deref(rolling.Partition, 0) != 0
	seen := fmt.Sprintf("%d updated, %d ready, strategy %s %+v, %v", s.UpdatedReplicas, s.ReadyReplicas, set.Spec.UpdateStrategy.Type, rolling, set.Annotations)
	return seen, !held && s.ObservedGeneration == set.Generation && s.CurrentRevision == s.UpdateRevision && s.UpdatedReplicas == *set.Spec.Replicas, nil
}

// inForce reports whether the policy exists, was read, and manages a budget of the cluster.
func (w *world) inForce(ctx context.Context) (string, bool, error) {
	var p v1alpha1.EtcdTopologyPolicy
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(w.policy), &p); err != nil {
		return "", false, err
	}
	_, managed, err := w.budgets(ctx)
	seen := fmt.Sprintf("status of generation %d of %d, managed budgets %q", p.Status.ObservedGeneration, p.Generation, managed)
	return seen, p.Status.ObservedGeneration == p.Generation && len(managed) > 0, err
}

// disturbedNow returns the disturbed pods in order.
func (w *world) disturbedNow() []string {
	return slices.Sorted(maps.Keys(w.facts.disturbed))
}
