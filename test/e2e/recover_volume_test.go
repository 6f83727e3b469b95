// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestPluginRecoverFromVolume recovers a cluster whose only member with data has restarted without a quorum, so that it never
// answers. The refusal names the flag, and the command with it restores all keys from the volume.
func TestPluginRecoverFromVolume(t *testing.T) {
	for _, row := range []struct {
		flavour clusters.Flavour
		program string
		lose    func(*testing.T, *clusters.Cluster)
		flags   []string
	}{
		{clusters.Plain, "etcd", scaledIn, []string{"--replicas", "3"}},
		{clusters.Druid, "etcd-3.5", wiped, []string{"--lost", "main-1,main-2"}},
	} {
		t.Run(string(row.flavour), func(t *testing.T) {
			operating(t, 3)
			r := recovering(t, start(t, namespace(t), "main", clusters.Spec{Flavour: row.flavour, Size: 3, TLS: true}))
			row.lose(t, r.c)
			restartAlone(t, r.c, "main-0")
			if row.flavour == clusters.Druid {
				restores(t, r.dir, "3.5")
			}
			refuses(t, []string{"--from-volume main-0"}, append([]string{"recover", "main", "-n", r.c.Namespace, "-y"}, lostFlags(row.flags)...)...)
			paths, err := programs.Ensure(t.Context(), programs.Cache{}, []string{row.program}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			r.recovers(t, append(row.flags, "--from-volume", "main-0", "--etcd", paths[row.program])...)
			r.restored(t, 3)
		})
	}
}

// lostFlags returns the flags that declare members to be lost.
func lostFlags(flags []string) []string {
	if flags[0] == "--lost" {
		return flags
	}
	return nil
}

// restartAlone restarts a member, and waits until etcd runs again.
func restartAlone(t *testing.T, c *clusters.Cluster, name string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	before := pod.UID
	remove(t, pod)
	eventually(t, name+" to run again", func(ctx context.Context) (string, bool, error) {
		var now corev1.Pod
		err := client.IgnoreNotFound(kube.Get(ctx, client.ObjectKeyFromObject(pod), &now))
		running := now.UID != before && len(now.Status.ContainerStatuses) > 0
		for _, s := range now.Status.ContainerStatuses {
			running = running && s.State.Running != nil
		}
		return string(now.Status.Phase), running, err
	})
}
