// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drains

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// watchQuorum fails the test if fewer members than a quorum are available at any moment until
// the test ends, or if no write succeeded. A Ready member is available. A member with a failing
// probe, as on a slow machine, counts as available for some more minutes, because no drain
// evicts it.
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
	// The test's own context ends before its cleanups. The watch must also cover the cleanups.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	writer := c.Write(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var history []string
		seen, lost := clusters.Sightings{}, false
		for ctx.Err() == nil { // a watch may end at any time
			follow(ctx, set.CoreV1().Pods(c.Namespace), c, seen, func() {
				history = append(history, time.Now().Format("15:04:05.000")+fmt.Sprintf(" %v", seen))
				n, was := seen.Count(time.Now()), lost
				if lost = n < policy.Quorum(c.Size); lost && !was && ctx.Err() == nil {
					t.Errorf("%s: %d of %d members are available, quorum is %d:\n%s\n%s", c, n, c.Size, policy.Quorum(c.Size),
						strings.Join(history[max(0, len(history)-20):], "\n"), budgetsNow(ctx, set, c.Namespace))
				}
			})
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
		stats := writer.Stop()
		t.Logf("%s: %d writes, %d failed, longest gap %s", c, stats.Written, stats.Failed, stats.LongestGap)
		if stats.Written == 0 {
			t.Errorf("%s: no write succeeded: %v", c, stats.LastErr)
		}
	})
}

// budgetsNow returns the budgets of a namespace with the status from the disruption controller.
func budgetsNow(ctx context.Context, set kubernetes.Interface, ns string) string {
	list, err := set.PolicyV1().PodDisruptionBudgets(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, b := range list.Items {
		lines = append(lines, fmt.Sprintf("budget %s: minAvailable %s, status %+v", b.Name, b.Spec.MinAvailable, b.Status))
	}
	return strings.Join(lines, "\n")
}

// follow lists the members' pods, watches them until the watch ends, and reports each change.
func follow(ctx context.Context, pods typedcorev1.PodInterface, c *clusters.Cluster, seen clusters.Sightings, changed func()) {
	options := metav1.ListOptions{LabelSelector: labels.FormatLabels(c.MemberLabels())}
	list, err := pods.List(ctx, options)
	if err != nil {
		pause(ctx)
		return
	}
	there := map[string]bool{}
	for i := range list.Items {
		there[list.Items[i].Name] = true
		seen.See(&list.Items[i], false, time.Now())
	}
	maps.DeleteFunc(seen, func(name string, _ clusters.Sighting) bool { return !there[name] })
	options.ResourceVersion = list.ResourceVersion
	w, err := pods.Watch(ctx, options)
	if err != nil {
		pause(ctx)
		return
	}
	defer w.Stop()
	for {
		changed()
		select {
		case <-ctx.Done():
			return
		case event, open := <-w.ResultChan():
			pod, isPod := event.Object.(*corev1.Pod)
			if !open || !isPod {
				return
			}
			seen.See(pod, event.Type == watch.Deleted, time.Now())
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
