// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// electionLease is the Lease of the leader election. Its holder is the leader.
var electionLease = client.ObjectKey{Namespace: Namespace, Name: "etcd-webhook.kubectl-etcd.dev"}

const crash = "a crash"

// endings are the ways to end the leader.
var endings = map[string]func(ctx context.Context, pod *corev1.Pod, pid int) error{
	crash:          func(_ context.Context, _ *corev1.Pod, pid int) error { return syscall.Kill(pid, syscall.SIGKILL) },
	"a clean stop": func(_ context.Context, _ *corev1.Pod, pid int) error { return syscall.Kill(pid, syscall.SIGTERM) },
	"a deletion":   func(ctx context.Context, pod *corev1.Pod, _ int) error { return admin.Delete(ctx, pod) },
}

// TestAnotherReplicaLeads ends the leader in each way, and waits until another replica leads. A
// leader that wasn't killed releases the lease first, so the next leader need not wait. On a
// slow machine, this may need a few attempts.
func TestAnotherReplicaLeads(t *testing.T) {
	installed(t)
	for name, end := range endings {
		for try := 1; ; try++ {
			took, released := failover(t, end)
			t.Logf("after %s: %s, released: %t", name, took.Round(10*time.Millisecond), released)
			if released || name == crash {
				break
			}
			if try == 3 {
				t.Errorf("after %s the lease was never released, so the next leader had to wait until it expired", name)
				break
			}
		}
	}
}

// BenchmarkFailover measures the time without a leader, from the end of the leader until the
// lease has another holder. Run it with
//
//	go test ./install -run '^$' -bench Failover -benchtime 25x
func BenchmarkFailover(b *testing.B) {
	installed(b)
	for name, end := range endings {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for range b.N {
				after, _ := failover(b, end)
				took = append(took, after)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds(), "median-s")
			b.ReportMetric(took[min(len(took)*95/100, len(took)-1)].Seconds(), "p95-s")
			b.ReportMetric(took[len(took)-1].Seconds(), "max-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// failover ends the leader. It returns the time until the lease had another holder, and whether
// the old leader released the lease before. Two replicas are ready at its start and at its end.
func failover(tb testing.TB, end func(context.Context, *corev1.Pod, int) error) (took time.Duration, released bool) {
	tb.Helper()
	pod, old, pid := leader(tb)
	holders := watchHolders(tb)
	began := time.Now()
	if err := end(tb.Context(), pod, pid); err != nil {
		tb.Fatal(err)
	}
	timeout, again := time.After(limit), time.NewTicker(5*time.Second)
	defer again.Stop()
	for took == 0 {
		holder := ""
		select {
		case holder = <-holders:
			released = released || holder == ""
		case <-again.C: // a watch may end
			var lease coordinationv1.Lease
			if err := admin.Get(tb.Context(), electionLease, &lease); err == nil && lease.Spec.HolderIdentity != nil {
				holder = *lease.Spec.HolderIdentity
			}
		case <-timeout:
			tb.Fatalf("no one leads after the end of %s", pod.Name)
		}
		if holder != "" && holder != old { // it may be the same pod's next process
			took = time.Since(began)
		}
	}
	// The kubelet would restart its container with a growing delay, so the test replaces the
	// pod.
	kubectl(tb, "delete", "pod", pod.Name, "-n", Namespace, "--ignore-not-found")
	rolledOut(tb)
	return took, released
}

// leader returns the leading pod, its identity in the lease, and its process on this machine. A
// container that has just ended may still hold the lease, but has no process.
func leader(tb testing.TB) (pod *corev1.Pod, holder string, pid int) {
	tb.Helper()
	pod = &corev1.Pod{}
	eventually(tb, "a leader", func(ctx context.Context) (string, bool, error) {
		var lease coordinationv1.Lease
		if err := admin.Get(ctx, electionLease, &lease); err != nil || lease.Spec.HolderIdentity == nil {
			return "no holder", false, err
		}
		holder = *lease.Spec.HolderIdentity
		name, _, _ := strings.Cut(holder, "_")
		err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, pod)
		pid = process(tb, pod)
		return fmt.Sprintf("%q, process %d", name, pid), err == nil && pod.DeletionTimestamp == nil && pid > 0, client.IgnoreNotFound(err)
	})
	return pod, holder, pid
}

// process returns the process of a pod of etcd-webhook, or 0 if it has none.
func process(tb testing.TB, pod *corev1.Pod) int {
	tb.Helper()
	pids, err := clusters.Processes(pod.UID, IsWebhook)
	if err != nil {
		tb.Fatal(err)
	}
	if len(pids) == 0 {
		return 0
	}
	return pids[0]
}

// watchHolders returns a channel with each new holder of the lease.
func watchHolders(tb testing.TB) <-chan string {
	tb.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		tb.Fatal(err)
	}
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	tb.Cleanup(cancel)
	w, err := set.CoordinationV1().Leases(Namespace).Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: electionLease.Name}))
	if err != nil {
		tb.Fatal(err)
	}
	holders := make(chan string)
	go func() {
		defer w.Stop()
		for event := range w.ResultChan() {
			lease, ok := event.Object.(*coordinationv1.Lease)
			if !ok || lease.Spec.HolderIdentity == nil {
				continue
			}
			select {
			case holders <- *lease.Spec.HolderIdentity:
			case <-ctx.Done():
				return
			}
		}
	}()
	return holders
}
