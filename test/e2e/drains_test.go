// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// Thirty runs: in each of six rounds half of the nodes are drained, three drains at
// once, under five clusters of three members, so that each loses every member's node.
const (
	drainRounds   = 7 // the first only brings all members to one half
	drainClusters = 5
	// drained selects what these drains are about; druid and the webhook stay.
	drained = "app in (drained-0, drained-1, drained-2, drained-3, drained-4)"
)

func TestConcurrentDrainsKeepQuorum(t *testing.T) {
	alone(t)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	all := make([]*clusters.Cluster, drainClusters)
	together, ctx := errgroup.WithContext(t.Context())
	for i := range all {
		together.Go(func() (err error) {
			if all[i], err = clusters.Apply(ctx, bed, ns, fmt.Sprintf("drained-%d", i), clusters.Spec{Flavour: clusters.Plain, Size: 3}); err != nil {
				return err
			}
			return all[i].WaitReady(ctx)
		})
	}
	if err := together.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		awaitMin(t, c, 2, policy.AllReady)
		watchQuorum(t, c)
	}
	nodes := bed.Nodes()
	for round := range drainRounds {
		// Nodes take turns over the zones: each half has one of each zone.
		half := nodes[len(nodes)/2*(round%2):][:len(nodes)/2]
		awaitFull(t, all)
		drainAll(t, half, round)
	}
	awaitFull(t, all)
}

func awaitFull(t *testing.T, all []*clusters.Cluster) {
	t.Helper()
	for _, c := range all {
		if err := c.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// drainAll drains the nodes at once, as a person would, and uncordons them.
func drainAll(t *testing.T, nodes []testbed.Node, round int) {
	t.Helper()
	together, ctx := errgroup.WithContext(t.Context())
	for _, n := range nodes {
		together.Go(func() error {
			var said bytes.Buffer
			cmd := exec.CommandContext(ctx, bed.Kubectl(), "--kubeconfig", bed.Kubeconfig(),
				"drain", n.Name, "--pod-selector", drained, "--timeout", limit.String())
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("round %d: drain %s: %w\n%s", round, n.Name, err, said.String())
			}
			return nil
		})
	}
	err := together.Wait()
	for _, n := range nodes {
		out, undo := exec.Command(bed.Kubectl(), "--kubeconfig", bed.Kubeconfig(), "uncordon", n.Name).CombinedOutput()
		if undo != nil {
			t.Errorf("uncordon %s: %v\n%s", n.Name, undo, out)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

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
	for _, m := range members(t, c) {
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
