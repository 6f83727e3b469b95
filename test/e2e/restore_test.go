// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// TestPluginRestorePlan deletes all data of a cluster, and types exactly what the plan prints,
// step by step. The saved data is restored at a higher revision.
func TestPluginRestorePlan(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, TLS: true, Mutate: logApart})
	put(t, c, 20)
	want := contents(t, c)
	dir := t.TempDir()
	file := filepath.Join(dir, "main.db")
	saved := decode[output.Snapshot](t, first(plugin(t, 0, "snapshot", "save", "main", file, "-n", ns, "-o", "json")))

	scale(t, c, 0)
	for ordinal := range 3 {
		for _, volume := range []string{"data", "log"} {
			remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("%s-main-%d", volume, ordinal)}})
		}
	}
	eventually(t, "the claims to be deleted", func(ctx context.Context) (string, bool, error) {
		var claims corev1.PersistentVolumeClaimList
		err := kube.List(ctx, &claims, client.InNamespace(ns))
		return fmt.Sprintf("%d claims remain", len(claims.Items)), len(claims.Items) == 0, err
	})
	typesPlan(t, c, dir, file)
	if now := contents(t, c); now != want {
		t.Errorf("the contents are %q, want %q", now, want)
	}
	aheadOf(t, c, saved.Revision)
	plugin(t, 0, "check", "main", "-n", ns, "--only", "Q001,D004,T001")
}

// TestPluginRestorePlanOneByOne restores members that start one after the other, and are Ready
// only with a quorum. The plan restores a cluster of one member and scales it out.
func TestPluginRestorePlanOneByOne(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 1, TLS: true, Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}})
	plugin(t, 0, "scale", target(c), "--replicas", "3", "-n", ns, "-y")
	put(t, c, 20)
	want, dir := contents(t, c), t.TempDir()
	file := filepath.Join(dir, "main.db")
	plugin(t, 0, "snapshot", "save", target(c), file, "-n", ns)
	put(t, c, 40)
	typesPlan(t, c, dir, file)
	votersAre(t, c, 3)
	if now := contents(t, c); now != want {
		t.Errorf("the contents are %q, want %q", now, want)
	}
}

// aheadOf checks that all members are as far ahead of a snapshot as a plan makes them.
func aheadOf(t *testing.T, c *clusters.Cluster, revision int64) {
	t.Helper()
	members := membersOf(t, c)
	eventually(t, fmt.Sprintf("members to be %d revisions ahead of %d", restore.DefaultBump, revision), func(ctx context.Context) (string, bool, error) {
		s, err := members.Survey(ctx)
		ahead, seen := true, ""
		for _, m := range s.Members {
			ahead = ahead && m.Revision >= revision+restore.DefaultBump
			seen += fmt.Sprintf("%s is at revision %d (%v); ", m.Pod, m.Revision, m.Err)
		}
		return seen, ahead, err
	})
}

// typesPlan types exactly what a restore plan prints, step by step.
func typesPlan(t *testing.T, c *clusters.Cluster, dir, file string) {
	t.Helper()
	planned, _ := plugin(t, 0, "snapshot", "restore-plan", file, target(c), "-n", c.Namespace, "--helper-image", images.Alpine, "-o", "json")
	for _, step := range decode[output.RestorePlan](t, planned).Steps {
		for _, command := range step.Commands {
			typed(t, dir, step.Title, command)
		}
	}
}

// logApart gives the write-ahead log its own volume.
func logApart(set *appsv1.StatefulSet) {
	volume := set.Spec.VolumeClaimTemplates[0].DeepCopy()
	volume.Name = "log"
	set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, *volume)
	etcd := &set.Spec.Template.Spec.Containers[0]
	etcd.VolumeMounts = append(etcd.VolumeMounts, corev1.VolumeMount{Name: "log", MountPath: "/log"})
	etcd.Env = append(etcd.Env, corev1.EnvVar{Name: "ETCD_WAL_DIR", Value: "/log/wal"})
}

// typed runs a command as a user who copies it from a plan. Programs in bin below the directory
// come first in the PATH.
func typed(t *testing.T, dir, title, command string) {
	t.Helper()
	path, err := pluginPath()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+strings.Join([]string{filepath.Join(dir, "bin"), filepath.Dir(path), bed.Bin(), os.Getenv("PATH")}, ":"))
	printed, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", title, err, command, printed)
	}
}

func first(stdout, _ string) string { return stdout }

func put(t *testing.T, c *clusters.Cluster, keys int) {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for n := range keys {
		retry(t, "a write", func(ctx context.Context) error {
			_, err := conn.Put(ctx, fmt.Sprintf("key-%d", n), fmt.Sprint(n))
			return err
		})
	}
}

// contents returns all keys with their values.
func contents(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var all *clientv3.GetResponse
	retry(t, "all keys", func(ctx context.Context) (err error) {
		all, err = conn.Get(ctx, "", clientv3.WithPrefix())
		return err
	})
	var text strings.Builder
	for _, kv := range all.Kvs {
		fmt.Fprintf(&text, "%s=%s ", kv.Key, kv.Value)
	}
	return text.String()
}
