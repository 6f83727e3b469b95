// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestPluginSnapshotSchedule has a CronJob save snapshots of clusters with and without TLS to a volume, with
// the permissions of its own ServiceAccount only. BackupReady follows the Lease.
func TestPluginSnapshotSchedule(t *testing.T) {
	operating(t, 3)
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Plugin}, io.Discard); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]clusters.Spec{"plain": {Flavour: clusters.Plain, Size: 1}, "tls": {Flavour: clusters.Plain, Size: 1, TLS: true}} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			c := start(t, ns, "main", spec)
			storeClaim(t, ns)
			schedule := []string{
				"snapshot", "schedule", target(c), "-n", ns, "--every", "5m", "--keep", "2", "--to", "file:///backup", "--claim", "store",
				"--image", images.Plugin, "-y",
			}
			plugin(t, 0, append(schedule, "--dry-run=server")...)
			_, printed := plugin(t, 0, schedule...)
			wants(t, printed, "The first snapshot is stored")
			_, printed = plugin(t, 0, schedule...)
			wants(t, printed, "already has this schedule")

			for range 3 { // as often as the CronJob would
				runSchedule(t, c)
			}
			listed, _ := plugin(t, 0, "snapshot", "list", target(c), "-n", ns, "-o", "json")
			list := decode[output.SnapshotList](t, listed)
			if list.Schedule == nil || list.Schedule.Keep != 2 || list.BackupReady != "True" || len(list.Leases) != 1 || list.Leases[0].Revision == 0 {
				t.Errorf("listed %s", listed)
			}
			eventually(t, "BackupReady False, because the Lease is too old", func(ctx context.Context) (string, bool, error) {
				lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "etcd-backup-main"}}
				old := []byte(`{"spec":{"renewTime":"2026-01-01T00:00:00.000000Z"}}`)
				if err := kube.Patch(ctx, lease, client.RawPatch("application/merge-patch+json", old)); err != nil {
					return "", false, err
				}
				out, _ := plugin(t, 0, "snapshot", "list", target(c), "-n", ns, "-o", "json")
				return out, decode[output.SnapshotList](t, out).BackupReady == "False", nil
			})

			plugin(t, 0, "snapshot", "schedule", target(c), "-n", ns, "--suspend", "-y")
			plugin(t, 0, "snapshot", "schedule", target(c), "-n", ns, "--resume", "-y")
			plugin(t, 0, "snapshot", "schedule", target(c), "-n", ns, "--delete", "-y")
			var gone batchv1.CronJob
			if err := kube.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "etcd-backup-main"}, &gone); !apierrors.IsNotFound(err) {
				t.Errorf("the CronJob still exists: %v", err)
			}
		})
	}
}

// TestPluginSnapshotScheduleDruid: the schedule of a druid cluster is its own, and the message has the way.
func TestPluginSnapshotScheduleDruid(t *testing.T) {
	operating(t, 3)
	c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Druid, Size: 1})
	refuses(t, []string{"kubectl patch etcd main -n " + c.Namespace, "fullSnapshotSchedule"},
		"snapshot", "schedule", target(c), "-n", c.Namespace, "--to", "s3://backups/team", "--image", images.Plugin, "-y")
}

// storeClaim creates the claim of the volume for snapshots.
func storeClaim(t *testing.T, ns string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "store"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")}},
		},
	}
	if err := kube.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
}

// runSchedule starts a Job of the CronJob, as kubectl create job --from does, and waits for it.
func runSchedule(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	var cronJob batchv1.CronJob
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "etcd-backup-main"}, &cronJob); err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, GenerateName: "run-"}, Spec: cronJob.Spec.JobTemplate.Spec}
	if err := kube.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("Job %s/%s to complete", job.Namespace, job.Name), func(ctx context.Context) (string, bool, error) {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return "", false, err
		}
		var text strings.Builder
		for _, condition := range job.Status.Conditions {
			fmt.Fprintln(&text, condition.Type, condition.Status, condition.Reason)
			if condition.Type == batchv1.JobComplete && condition.Status == corev1.ConditionTrue {
				return text.String(), true, nil
			}
			if condition.Type == batchv1.JobFailed && condition.Status == corev1.ConditionTrue {
				t.Fatalf("the run failed: %s", condition.Message)
			}
		}
		return text.String(), false, nil
	})
}
