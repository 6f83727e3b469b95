// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginBeganAgain: two of three members lose their data while the third is frozen, and begin an empty cluster with
// the same IDs. The frozen one has been running for five minutes longer by then. Nothing that is printed leads to its
// loss. The test ends before the kubelet restarts the frozen container: then etcd keeps one of the two logs, or both.
func TestPluginBeganAgain(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	put(t, c, 20)
	age := stopwatch(t)
	eventually(t, "the members to be old", func(context.Context) (string, bool, error) {
		return age().String(), age() > 5*time.Minute+10*time.Second, nil
	})
	before := members(t, c)
	freeze(t, before[2].Pod.UID)
	for _, pod := range []string{"main-0", "main-1"} {
		remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data-" + pod}})
	}
	for _, pod := range []string{"main-0", "main-1"} {
		remove(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod}})
	}
	for _, old := range before[:2] {
		awaitSuccessor(t, &old.Pod)
	}
	stdout, _ := prints(t, 3, []string{"X-18", "BeganWithoutData", "I-11", "main-2"}, "diagnose", "main", "-n", ns)
	lacks(t, stdout, "member replace", "member remove", "kubectl delete", "restart statefulset")
	prints(t, 3, []string{"D010"}, "check", "main", "-n", ns)
	const old = "ran before the members that answer began without data"
	for _, args := range [][]string{
		{"member", "remove", "main", "main-2", "--force", "-y"},
		{"member", "replace", "main", "main-2", "--force", "-y"},
		{"restart", "main", "--member", "main-2", "-y"},
		{"restart", "main", "-y"},
	} {
		prints(t, 2, []string{old}, append(args, "-n", ns)...)
	}
	stdout, _ = prints(t, 3, []string{"main-2", "kubectl etcd diagnose statefulset/main"}, "status", "main", "-n", ns)
	lacks(t, stdout, "member replace", "member remove", "kubectl delete")
}

// awaitSuccessor waits until another pod of the same name is Ready.
func awaitSuccessor(t *testing.T, old *corev1.Pod) {
	t.Helper()
	eventually(t, "the successor of "+old.Name, func(ctx context.Context) (string, bool, error) {
		var now corev1.Pod
		err := kube.Get(ctx, client.ObjectKeyFromObject(old), &now)
		return string(now.Status.Phase), err == nil && now.UID != old.UID && podIsReady(&now), client.IgnoreNotFound(err)
	})
}
