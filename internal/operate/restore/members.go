// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// scale sets the number of members' pods.
func (r Plan) scale(replicas int) step.Action {
	return step.Scale{StatefulSet: r.Owner.StatefulSet, Replicas: replicas, Mark: true}
}

// stopAll stops all members and waits until no pod is left.
func (r Plan) stopAll() []step.Action {
	return []step.Action{r.scale(0), step.Wait{Kind: step.Pod, Names: r.running(), For: step.Deleted, Members: true, Timeout: 5 * time.Minute}}
}

// startFirst starts the first member and waits until it is ready.
func (r Plan) startFirst(timeout time.Duration) []step.Action {
	first := []string{r.Members[0].Pod}
	return []step.Action{
		step.Scale{StatefulSet: r.Owner.StatefulSet, Replicas: 1, Declared: true, Mark: true},
		step.Wait{Kind: step.Pod, Names: first, For: step.Created, Timeout: time.Minute},
		step.Wait{Kind: step.Pod, Names: first, For: step.Condition("Ready"), Timeout: timeout},
	}
}

// awaitReady waits until all members are ready.
func (r Plan) awaitReady(timeout time.Duration) step.Action {
	return step.Wait{Kind: step.StatefulSet, Names: []string{r.Owner.StatefulSet}, For: step.Field("status.readyReplicas", len(r.Members)), Timeout: timeout}
}

// awaitRunning waits until the pods of members run. They may not be ready before an alarm of the snapshot is disarmed,
// since a readiness probe may ask etcd for alarms. The check of the cluster asks the members themselves.
func (r Plan) awaitRunning(members []Member) []step.Action {
	const limit = 10 * time.Minute
	return []step.Action{
		step.Wait{Kind: step.Pod, Names: podsOf(members), For: step.Created, Timeout: limit},
		step.Wait{Kind: step.Pod, Names: podsOf(members), For: step.Field("status.phase", string(corev1.PodRunning)), Timeout: limit},
	}
}

// awaitReadyAgain waits until the members are ready for which awaitRunning has not waited that long.
func (r Plan) awaitReadyAgain() step.Action {
	ready := step.Wait{Kind: step.StatefulSet, Names: []string{r.Owner.StatefulSet}, For: step.Field("status.readyReplicas", len(r.into())), Timeout: 10 * time.Minute}
	return step.AwaitReady{Wait: ready, Target: r.Target()}
}

// running returns the pods that may exist now, which can be more than are restored.
func (r Plan) running() []string {
	pods := r.pods()
	for ordinal := len(pods); ordinal < int(r.Owner.Replicas); ordinal++ {
		pods = append(pods, r.Owner.PodName(ordinal))
	}
	return pods
}

func (r Plan) pods() []string {
	pods := make([]string, len(r.Members))
	for i, m := range r.Members {
		pods[i] = m.Pod
	}
	return pods
}

func podsOf(members []Member) []string { return Plan{Members: members}.pods() }

// HelperPods returns the pods that the steps create.
func (r Plan) HelperPods() []step.CreatePod {
	if r.Druid != nil {
		if r.Druid.StorePod == "" {
			return nil
		}
		return []step.CreatePod{{Manifest: r.Druid.StorePod}}
	}
	var pods []step.CreatePod
	for _, m := range r.Members {
		pods = append(pods, step.CreatePod{Manifest: r.Files.ManifestOf(m.Pod)})
	}
	return pods
}
