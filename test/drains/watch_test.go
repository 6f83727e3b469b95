// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drains

import (
	"context"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// watchQuorum fails the test when fewer members than a quorum are Ready, at any
// moment until it ends, and when a write is not possible at its end.
func watchQuorum(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ready := map[string]bool{}
	members, err := c.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		ready[m.Pod.Name] = m.Ready
	}
	// The test's own context ends before its cleanups, which are to see the rest.
	ctx := context.WithoutCancel(t.Context())
	w, err := set.CoreV1().Pods(c.Namespace).Watch(ctx, metav1.ListOptions{LabelSelector: labels.FormatLabels(c.MemberLabels())})
	if err != nil {
		t.Fatal(err)
	}
	writer := c.Write(ctx)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			select {
			case <-over: // a watch that is stopped ends with an error
				return
			default:
			}
			if !ok {
				t.Errorf("%s: the watch broke: %v", c, event.Object)
				return
			}
			ready[pod.Name] = event.Type != watch.Deleted && isReady(pod)
			if n := count(ready); n < policy.Quorum(c.Size) {
				t.Errorf("%s: %d of %d members Ready, quorum is %d: %v", c, n, c.Size, policy.Quorum(c.Size), ready)
			}
		}
	}()
	t.Cleanup(func() {
		close(over)
		w.Stop()
		<-done
		stats := writer.Stop()
		t.Logf("%s: %d writes, %d failed, longest gap %s", c, stats.Written, stats.Failed, stats.LongestGap)
		if stats.Written == 0 {
			t.Errorf("%s: no write succeeded: %v", c, stats.LastErr)
		}
	})
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func count(ready map[string]bool) int {
	n := 0
	for _, r := range ready {
		if r {
			n++
		}
	}
	return n
}
