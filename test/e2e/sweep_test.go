// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginSweep finds what operations on clusters that are gone and on one that exists have left
// behind. It removes what the rule allows, and nothing of the cluster.
func TestPluginSweep(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	_, printed := plugin(t, 0, "sweep", "-n", ns)
	wants(t, printed, "Nothing left behind in namespace "+ns+".")

	gone := leftJournal(ns, "gone", "another-uid")
	lock := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "kubectl-etcd-statefulset-gone"}}
	spare := spareClaim(t, c)
	for _, o := range []client.Object{gone, lock, spare} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	table, _ := plugin(t, 0, "sweep", "-n", ns)
	wants(t, table, "configmap/kubectl-etcd-gone", "lease.coordination.k8s.io/kubectl-etcd-statefulset-gone", "persistentvolumeclaim/"+spare.Name,
		"kubectl etcd sweep --remove -n "+ns, "kubectl etcd sweep --remove --delete-claims "+spare.Name+" -n "+ns)
	yaml, _ := plugin(t, 0, "sweep", "-n", ns, "-o", "yaml")
	wants(t, yaml, "kind: SweepReport", "reason: JournalOrphaned", "reason: LockOrphaned", "reason: ClaimLeft")
	if names, _ := plugin(t, 0, "sweep", "gone", "-n", ns, "-o", "name"); strings.Contains(names, spare.Name) || !strings.Contains(names, "kubectl-etcd-gone") {
		t.Errorf("of the cluster that is gone: %q", names)
	}

	plugin(t, 0, "sweep", "--remove", "-n", ns, "--dry-run=server")
	refuses(t, []string{"there is no terminal"}, "sweep", "--remove", "-n", ns)
	wantThere(t, true, gone, lock, spare)
	plugin(t, 0, "sweep", "--remove", "-n", ns, "-y")
	wantThere(t, false, gone, lock)
	wantThere(t, true, spare)
	refuses(t, []string{"the cluster should have its member"}, "sweep", "--remove", "--delete-claims", strings.TrimSuffix(spare.Name, "-3")+"-2", "-n", ns, "-y")
	plugin(t, 0, "sweep", "main", "--remove", "--delete-claims", spare.Name, "-n", ns, "-y")
	wantThere(t, false, spare)
	_, printed = plugin(t, 0, "sweep", "-n", ns)
	wants(t, printed, "Nothing left behind")
	votersAre(t, c, 3)
}

// TestPluginSweepPermissions shows what is not known without a permission, and removes none of it.
func TestPluginSweepPermissions(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	shell(t, "kubectl apply -f ../../manifests/samples/plugin-roles.yaml")
	user := "sweeper-of-" + ns
	bind(t, ns, "kubectl-etcd-viewer", user)
	awaitRight(t, ns, user, "", "configmaps", "list")
	gone := leftJournal(ns, "gone", "another-uid")
	if err := kube.Create(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	table, _ := plugin(t, 0, "sweep", "-n", ns, "--as", user)
	wants(t, table, "configmap/kubectl-etcd-gone")
	prints(t, 1, []string{"nothing was changed. Missing:", `verb "delete" on "configmaps" named "kubectl-etcd-gone"`}, "sweep", "--remove", "-n", ns, "-y", "--as", user)
	prints(t, 3, []string{"unhealthy: "}, "sweep", "-n", ns, "--as", "another-than-"+ns)
	wantThere(t, true, gone)
}

// leftJournal returns the journal of a scale that began two days ago.
func leftJournal(namespace, statefulSet, uid string) *corev1.ConfigMap {
	began := time.Now().Add(-48 * time.Hour).UTC().Format(time.RFC3339)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubectl-etcd-" + statefulSet, Labels: map[string]string{"app.kubernetes.io/managed-by": "kubectl-etcd"}},
		Data:       map[string]string{"journal.json": fmt.Sprintf(`{"kind":"scale","began":%q,"object":%q,"payload":{"Operation":"ScaleOut","Target":5,"Replicas":3}}`, began, uid)},
	}
}

// spareClaim returns a volume claim like those of a cluster, of the ordinal after the last.
func spareClaim(t *testing.T, c *clusters.Cluster) *corev1.PersistentVolumeClaim {
	t.Helper()
	var all corev1.PersistentVolumeClaimList
	if err := kube.List(t.Context(), &all, client.InNamespace(c.Namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		name, last := strings.CutSuffix(all.Items[i].Name, "-2")
		if !last {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name + "-3"}}
		claim.Spec.AccessModes = all.Items[i].Spec.AccessModes
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
		return claim
	}
	t.Fatalf("none of %d volume claims is that of ordinal 2", len(all.Items))
	return nil
}

// wantThere requires that objects exist, or that they don't.
func wantThere(t *testing.T, there bool, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		eventually(t, fmt.Sprintf("%s exists: %t", o.GetName(), there), func(ctx context.Context) (string, bool, error) {
			err := kube.Get(ctx, client.ObjectKeyFromObject(o), o)
			if client.IgnoreNotFound(err) != nil {
				return "", false, err
			}
			return fmt.Sprintf("exists: %t", err == nil), apierrors.IsNotFound(err) != there, nil
		})
	}
}
