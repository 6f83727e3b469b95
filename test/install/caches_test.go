// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUnreadyWithoutItsCaches removes the permission to watch. A new replica doesn't become
// ready, and a running replica becomes unready after its watches end. Both report why. When the
// permission is restored, they become ready again.
func TestUnreadyWithoutItsCaches(t *testing.T) {
	installed(t)
	t.Cleanup(func() {
		if err := Install(context.WithoutCancel(t.Context()), bed); err != nil {
			t.Error(err)
		}
	})
	awaitPods(t, 2)
	first := replicas(t)
	kubectl(t, "delete", "clusterrolebinding", Name)
	kubectl(t, "delete", "pod", first[0].Name, "-n", Namespace)
	awaitPods(t, 2)
	var fresh string
	for _, p := range replicas(t) {
		if p.Name != first[1].Name {
			fresh = p.Name
		}
	}
	expectOutOfSync(t, fresh)
	runs := replica(t, first[1].Name)
	if !isReady(runs) {
		t.Errorf("%s is unready although its watches still run: %s", runs.Name, checkCaches(t, runs.Name))
	}

	// The leader may lose its lease meanwhile, and then restarts.
	if err := errors.Join(bed.StopAPIServer(t.Context()), bed.StartAPIServer(t.Context())); err != nil {
		t.Fatal(err)
	}
	expectOutOfSync(t, runs.Name)

	applied(t, "self-signed", "--server-side", "--force-conflicts")
	rolledOut(t)
	for _, name := range []string{fresh, runs.Name} {
		eventually(t, name+" to be ready again, and to report it", func(ctx context.Context) (string, bool, error) {
			printed, err := admin.kubectl(ctx, nil, "logs", name, "-n", Namespace)
			return checkCaches(t, name), strings.Contains(string(printed), "a cache can be kept in sync again") && isReady(replica(t, name)), err
		})
	}
}

// expectOutOfSync waits until a replica is unready. It checks that the probe and the log name a
// collection and its state.
func expectOutOfSync(t *testing.T, name string) {
	t.Helper()
	eventually(t, name+" to report that its caches are not in sync", func(ctx context.Context) (string, bool, error) {
		probe := checkCaches(t, name)
		texts, err := admin.kubectl(ctx, nil, "logs", name, "-n", Namespace)
		log := string(texts)
		known := strings.Contains(probe, "caches are not in sync: watching ") && strings.Contains(probe, "watching poddisruptionbudgets has been refused since ")
		return fmt.Sprintf("%s\n%s", probe, log), known && !isReady(replica(t, name)) &&
			strings.Contains(log, "this replica isn't ready: a cache is not in sync") && strings.Contains(log, "watching poddisruptionbudgets has been refused since "), err
	})
}

// checkCaches returns the result of a replica's probe for its caches, or the error if the
// replica doesn't respond.
func checkCaches(t *testing.T, name string) string {
	t.Helper()
	return checkOf(t, name, "caches")
}

// checkOf returns the result of one check of a replica's probe.
func checkOf(t *testing.T, name, check string) string {
	t.Helper()
	out, err := admin.kubectl(t.Context(), nil, "get", "--raw", "/api/v1/namespaces/"+Namespace+"/pods/"+name+":8081/proxy/readyz/"+check)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// replicas returns the pods of etcd-webhook that are not being deleted.
func replicas(tb testing.TB) []corev1.Pod {
	tb.Helper()
	var pods corev1.PodList
	if err := admin.List(tb.Context(), &pods, client.InNamespace(Namespace), client.MatchingLabels{"app.kubernetes.io/name": Name}); err != nil {
		tb.Fatal(err)
	}
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

func replica(tb testing.TB, name string) *corev1.Pod {
	tb.Helper()
	p := &corev1.Pod{}
	if err := admin.Get(tb.Context(), client.ObjectKey{Namespace: Namespace, Name: name}, p); err != nil {
		tb.Fatal(err)
	}
	return p
}

// readiness returns a pod's Ready condition. It is empty if the pod has none.
func readiness(p *corev1.Pod) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c
		}
	}
	return corev1.PodCondition{}
}

func isReady(p *corev1.Pod) bool { return readiness(p).Status == corev1.ConditionTrue }
