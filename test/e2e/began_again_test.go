// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginBeganAgain: two of three members lose their data while the third is frozen, and begin an empty cluster with
// the same IDs. The frozen one has been running for five minutes longer by then. Nothing that is printed leads to its
// loss.
func TestPluginBeganAgain(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	put(t, c, 20)
	age := stopwatch(t)
	eventually(t, "the members to be old", func(context.Context) (string, bool, error) {
		return age().String(), age() > 5*time.Minute+10*time.Second, nil
	})
	freeze(t, members(t, c)[2].Pod.UID)
	for _, pod := range []string{"main-0", "main-1"} {
		remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data-" + pod}})
	}
	for _, pod := range []string{"main-0", "main-1"} {
		remove(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod}})
	}
	stdout, _ := prints(t, 3, []string{"X-18", "BeganWithoutData", "main-2"}, "diagnose", "main", "-n", ns)
	lacks(t, stdout, "member replace", "member remove", "kubectl delete", "restart statefulset")
	prints(t, 3, []string{"D010"}, "check", "main", "-n", ns)
	stdout, _ = prints(t, 3, []string{"main-2", "kubectl etcd diagnose statefulset/main"}, "status", "main", "-n", ns)
	lacks(t, stdout, "member replace", "member remove", "kubectl delete")
}
