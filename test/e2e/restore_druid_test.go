// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestPluginRestorePlanDruid restores a druid cluster from a snapshot. It types exactly what the
// plan prints. The plan goes through the store, in which the sidecars have newer snapshots by
// then. The Etcd is suspended before and after the restore.
func TestPluginRestorePlanDruid(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, TLS: true})
	put(t, c, 20)
	want, dir := contents(t, c), t.TempDir()
	file := filepath.Join(dir, "main.db")
	saved := decode[output.Snapshot](t, first(plugin(t, 0, "snapshot", "save", target(c), file, "-n", ns, "-o", "json")))
	put(t, c, 40)
	plugin(t, 0, "snapshot", "save", target(c), "-n", ns, "--via", "backup-restore", "-y")
	why := "by: ann"
	if err := c.Annotate(t.Context(), druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, &why); err != nil {
		t.Fatal(err)
	}
	before := volumesOf(t, ns)
	cutByHand(t, c, observe.CutValue(time.Now().Add(time.Hour)))
	refuses(t, []string{"client traffic is cut, and its members join through their clients' Service"}, "snapshot", "restore-plan", file, target(c), "-n", ns)
	plugin(t, 0, "restore-client-traffic", target(c), "-n", ns, "-y")

	restores(t, dir, "3.5") // the release of druid's etcd image
	typesPlan(t, c, dir, file)
	if now := contents(t, c); now != want {
		t.Errorf("the contents are %q, want %q", now, want)
	}
	aheadOf(t, c, saved.Revision)
	votersAre(t, c, 3)
	annotatedAsBefore(t, c, why)
	config := &corev1.ConfigMap{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "main-config"}, config); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(config.Data["etcd.conf.yaml"], ":2380,"); n != 2 {
		t.Errorf("the configuration has %d members:\n%s", n+1, config.Data["etcd.conf.yaml"])
	}
	volumesRemain(t, before)
}

// TestPluginRestorePlanDruidProtected types the plan for a member that has lost its volume and
// doesn't run. Druid's protection denies all other clients' writes to its objects, before and
// after the restore.
func TestPluginRestorePlanDruidProtected(t *testing.T) {
	alone(t)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 1, Druid: clusters.DruidSpec{MemberNamePrefix: "desk"}})
	put(t, c, 20)
	want, dir := contents(t, c), t.TempDir()
	file := filepath.Join(dir, "main.db")
	saved := decode[output.Snapshot](t, first(plugin(t, 0, "snapshot", "save", target(c), file, "-n", ns, "-o", "json")))
	put(t, c, 40)
	plugin(t, 0, "snapshot", "save", target(c), "-n", ns, "--via", "backup-restore", "-y")
	scale(t, c, 0)
	remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "main-main-0"}})
	eventually(t, "the volume to be deleted", func(context.Context) (string, bool, error) {
		left := claimsOf(t, ns)
		return fmt.Sprint(left), len(left) == 0, nil
	})
	if err := clusters.InstallDruid(t.Context(), bed, clusters.DruidOptions{Protection: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clusters.InstallDruid(context.WithoutCancel(t.Context()), bed, clusters.DruidOptions{}); err != nil {
			t.Error(err)
		}
	})
	denies(t, c)

	restores(t, dir, "3.5")
	typesPlan(t, c, dir, file)
	if now := contents(t, c); now != want {
		t.Errorf("the contents are %q, want %q", now, want)
	}
	aheadOf(t, c, saved.Revision)
	denies(t, c)
	etcd, err := c.Etcd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(etcd.Annotations) > 0 {
		t.Errorf("the annotations after the plan are %v", etcd.Annotations)
	}
}

// denies checks that druid denies our write to its StatefulSet.
func denies(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"ours":""}}}`))
	if err := kube.Patch(t.Context(), sts, change, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "disallowed") {
		t.Errorf("druid doesn't deny a write to its StatefulSet: %v", err)
	}
}

// restores puts the restore program for a release of etcd into bin below a directory.
func restores(t *testing.T, dir, release string) {
	t.Helper()
	name := "etcdutl-" + release
	paths, err := programs.Ensure(t.Context(), programs.Cache{}, []string{name}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(paths[name], filepath.Join(dir, "bin", "etcdutl")); err != nil {
		t.Fatal(err)
	}
}

// annotatedAsBefore checks that an Etcd is suspended as before, and that no annotation of a plan
// remains.
func annotatedAsBefore(t *testing.T, c *clusters.Cluster, suspended string) {
	t.Helper()
	eventually(t, "the annotations to be as before", func(ctx context.Context) (string, bool, error) {
		etcd, err := c.Etcd(ctx)
		if err != nil {
			return "", false, err
		}
		was, there := etcd.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]
		_, off := etcd.Annotations[druidv1alpha1.DisableEtcdComponentProtectionAnnotation]
		_, messages := etcd.Annotations[druidv1alpha1.DruidOperationAnnotation]
		return fmt.Sprint(etcd.Annotations), there && was == suspended && !off && !messages, nil
	})
}

// volumesOf returns the names of the volumes that a namespace's claims are bound to.
func volumesOf(t *testing.T, ns string) (names []string) {
	t.Helper()
	var claims corev1.PersistentVolumeClaimList
	if err := kube.List(t.Context(), &claims, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	for _, c := range claims.Items {
		names = append(names, c.Spec.VolumeName)
	}
	return names
}

// volumesRemain checks that the volumes still exist without a claim, and deletes them.
func volumesRemain(t *testing.T, names []string) {
	t.Helper()
	if len(names) != 3 {
		t.Errorf("the volumes before were %q", names)
	}
	for _, name := range names {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(v), v); err != nil || v.Status.Phase != corev1.VolumeReleased {
			t.Errorf("the old volume %s is in phase %s (%v), want its data to remain", name, v.Status.Phase, err)
		}
		remove(t, v)
	}
}
